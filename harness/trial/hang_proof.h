#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fault/world.h"
#include "process/guard.h"
#include "process/proc.h"

namespace jitrace {

// What the proof looks at, taken in one go by the trial. `exists` and `owners` answer for lock paths.
struct HangFacts {
  std::vector<Descendant> descendants;
  std::vector<HeldLock> locks;
  std::function<bool(const std::string& path)> exists;
  // Of one that waits for a lock: it opens the file anew at each try, and the path names another one by now, or none.
  std::function<bool(const WorkerState& worker)> moved_on;
  std::map<std::string, Slot> owners;               // lock path → who passed lock_held there last
  std::map<Slot, std::string> ends;                 // how a worker ended: "killed by SIGKILL, planned"
};

struct HungWorker {
  Slot slot = driver_slot;
  HangCause cause = HangCause::none;
  std::string chain;  // worker → lock → owner and its end
};

// Who may still move: somebody by himself, somebody whom the plan holds or will continue, nobody.
enum class Standing { moving, on_plan, nobody };

struct HangProof {
  Standing standing = Standing::moving;
  std::string blocked_by;  // the first thing that may still make progress; for the dump of a stalled trial
  // Nobody moves: who waits. Those whom the plan stopped for ever are no finding, but others may wait for them.
  std::vector<HungWorker> hung;
  bool proved() const { return standing == Standing::nobody && !hung.empty(); }
};

// No progress and none possible: every live process of the trial waits, without a bound, for a condition that does not
// hold and that only the others in the set could bring about, or is stopped with no continue planned, or waits for a
// child that is. Any process that could run blocks the proof. With no live worker there is nothing to prove: moving.
// Assumes that nothing outside the trial touches the cache.
HangProof prove_hang(const World& world, const HangFacts& facts);

// The same question where all workers have ended: of the tools that they left behind. Nobody: all are stopped for ever.
Standing standing_of_orphans(const World& world, const std::vector<Descendant>& orphans);

}  // namespace jitrace
