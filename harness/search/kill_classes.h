#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/recording.h"

namespace jitrace {

enum class Writes { ends, all };  // of a run of writes to one file by one process: first, middle and last; or each

// Moments of a recorded run between which neither the cache nor a lock changed: a kill at any of them leaves the same.
struct KillClass {
  StepName step;            // the one that stands for all: after the change that opens the class; the first class is
                            // before the first call
  std::size_t call = 0;     // index of that call in the recording
  std::size_t points = 0;   // how many points (before and after of each call) it stands for
  std::size_t skipped = 0;  // further changes within a run of writes that it stands for, too (0 with Writes::all)
};

// Every point of round 1 belongs to exactly one class, and the sum of `points` is twice the number of calls. In order.
std::vector<KillClass> kill_classes(const Recording& recording, Writes writes);

}  // namespace jitrace
