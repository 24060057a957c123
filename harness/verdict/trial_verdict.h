#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/history.h"
#include "plan/plan.h"
#include "verdict/finding.h"

namespace jitrace {

// Kill → another worker may build → first correct load → last survivor's correct load; all from event stamps.
// `applies` is false for trials without a kill. A missing number of a trial to which it applies is "unrecovered", but for
// the hand-off of a command: it tells nobody what it holds (`handoff_shows`).
struct Recovery {
  bool applies = false;
  bool handoff_shows = true;
  std::optional<Nanoseconds> handoff, first_served, all_served;
};

// What one history says. Facts first, no expectations: whether this was hoped for is decided per cell.
struct TrialVerdict {
  int trial = 0;
  std::string inconclusive;  // why, if it is: a planned fault that did not fire, stalled, torn log, harness error
  std::vector<Finding> findings;       // may be there in an inconclusive trial, too
  std::map<std::string, int> outcomes; // name of Outcome → workers of all rounds
  bool recovered = false;  // every survivor was served, from the round of the fault on; without faults, in all
  Recovery recovery;
  int builds = 0;                      // attempts that ran a compiler to success
  std::map<std::string, int> builds_per_key;  // kernel → attempts
  int peak_builds = 0;                 // most at once
  int faults_planned = 0;
  int faults_fired = 0;
  int warnings = 0;                    // `warned` events
  double start_skew_ms = 0;            // last minus first `released` of round 1
  std::vector<std::string> notes;      // weaker evidence, simulated codes, what could not be seen here
};

// Runs every oracle over the history. An oracle that cannot judge makes the trial inconclusive, never a pass.
TrialVerdict judge(const Plan& plan, const History& history);

}  // namespace jitrace
