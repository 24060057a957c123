#pragma once

#include "verdict/trial_verdict.h"
#include "verdict/trial_view.h"

namespace jitrace {

// One oracle a file. Each adds what it found, or a note where it could not see; none looks at an expectation.
void find_hangs(const TrialView& view, TrialVerdict& verdict);         // hang, wedged
void find_two_owners(const TrialView& view, TrialVerdict& verdict);
void find_orphan_writes(const TrialView& view, TrialVerdict& verdict);
void find_missing(const TrialView& view, TrialVerdict& verdict);       // missing, source_missing
void find_torn(const TrialView& view, TrialVerdict& verdict);          // torn, poisoned
void find_foreign(const TrialView& view, TrialVerdict& verdict);
void find_loud(const TrialView& view, TrialVerdict& verdict);          // after missing, torn, foreign: loud is the rest
void find_wrong_errors(const TrialView& view, TrialVerdict& verdict);
void find_herds(const TrialView& view, TrialVerdict& verdict);
void find_serialised(const TrialView& view, TrialVerdict& verdict);
void find_starved(const TrialView& view, TrialVerdict& verdict);
void find_leaks(const TrialView& view, TrialVerdict& verdict);

// How loads are read, in one place.
enum class LoadKind { fine, missing, torn, foreign };
LoadKind kind_of(const TrialView& view, const LoadFact& load);
// Did this attempt compile, or only link somebody's object? (ninja goes on from what an orphan has finished; its driver
// announces itself as a compiler either way.)
bool compiled_afresh(const TrialView& view, const AttemptFact& attempt);

// The facts beside the findings.
void count_outcomes(const TrialView& view, TrialVerdict& verdict);     // outcomes, recovered, warnings, skew
void count_builds(const TrialView& view, TrialVerdict& verdict);
Recovery measure_recovery(const TrialView& view);
bool served(const TrialView& view,
            const WorkerFact& worker);  // built or served, and its last load of each key was correct

}  // namespace jitrace
