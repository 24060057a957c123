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
  std::map<std::string, Slot> owners;               // lock path → who passed lock_held there last
  std::map<Slot, std::string> ends;                 // how a worker ended: "killed by SIGKILL, planned"
};

struct HungWorker {
  Slot slot = driver_slot;
  HangCause cause = HangCause::none;
  std::string chain;  // worker → lock → owner and its end
};

struct HangProof {
  bool proved = false;
  std::string blocked_by;  // the first thing that may still make progress; for the dump of a stalled trial
  std::vector<HungWorker> hung;
};

// No progress and none possible: every live process of the trial waits, without a bound, for a condition that does not
// hold and that only the others in the set could bring about, or is stopped with no continue planned, or waits for a
// child that is. Any process that could run blocks the proof. Assumes that nothing outside the trial touches the cache.
HangProof prove_hang(const World& world, const HangFacts& facts);

}  // namespace jitrace
