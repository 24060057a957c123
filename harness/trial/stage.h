#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "event/history.h"
#include "plan/plan.h"
#include "trial/setup.h"
#include "worker/spec.h"

namespace jitrace {

// The directories of one trial.
struct Stage {
  std::string token;       // in the environment of every process of the trial
  std::string lane_dir;    // board, specs, outputs, temporary files; inside the run directory
  std::string temp_dir;    // TMPDIR of everybody
  std::string cache_dir;   // the first client's view of this trial's cache
  std::vector<std::string> client_dirs;  // one a client; the same directory, maybe through another mount
};

Result<Stage> set_stage(const Plan& plan, const Setup& setup, int lane);

// Carries out cache.before. `entry` actions compile a sound entry of an earlier run.
Result<void> prepare_cache(const Plan& plan, const Setup& setup, const Stage& stage);

// The absolute path that a scenario's path stands for: {entry} {artifact} {lock} {source} of key 0 as `preset` has them,
// else relative to the cache. Fails for one that leads out of the cache.
Result<std::string> expand_path(const Plan& plan, const Setup& setup, const Stage& stage, const std::string& preset,
                                const std::string& path);

// `how`: remove, cut, empty, replace. `path` as for expand_path.
Result<void> damage_path(const Plan& plan, const Setup& setup, const Stage& stage, const std::string& preset,
                         const std::string& path, const std::string& how);

// The worker's whole environment: the driver's own, with every place where caches and temporary files go inside the run.
std::vector<std::string> worker_environment(const Stage& stage, int client);

WorkerSpec worker_spec(const Plan& plan, const Setup& setup, const Stage& stage, Slot slot, int index, int round,
                       const WorkerPlan& worker);

// What lies in the cache, with the state of every artifact; and what lies in the temporary directory.
std::vector<SnapshotEntry> take_snapshot(const Plan& plan, const Setup& setup, const Stage& stage);
std::vector<SnapshotEntry> take_residue(const Stage& stage);

}  // namespace jitrace
