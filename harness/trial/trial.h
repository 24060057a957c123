#pragma once

#include "base/result.h"
#include "event/history.h"
#include "plan/plan.h"
#include "trial/lane.h"
#include "trial/setup.h"

namespace jitrace {

// How a trial ended for the one who runs trials: a history, or the user's wish to stop.
struct TrialResult {
  History history;
  enum class End { settled, interrupted } end = End::settled;
  // The cache as the trial left it, for a snapshot of what failed. The caller removes it (remove_trial).
  std::string cache_dir;
  std::string lane_dir;
};

// Carries one plan out in a lane, from a prepared cache to every process accounted for. An error means that the trial
// could not be set up or the guard was lost; a fault that did not fire, a stall, a full log are in the history instead.
// `interrupt` is a descriptor that becomes readable when the user wants to stop.
Result<TrialResult> run_trial(const Plan& plan, const Setup& setup, Lane& lane, const Fd& interrupt);
// Free mode: how long a trial takes that no fault strikes, kept in the setup; once a subject. Nothing to do for plans
// without a random moment.
Result<void> measure_typical(const Plan& plan, Setup& setup, Lane& lane, const Fd& interrupt);
Result<void> remove_trial(const TrialResult& result);

}  // namespace jitrace
