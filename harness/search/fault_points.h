#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/recording.h"
#include "plan/trace_plan.h"
#include "search/kill_classes.h"

namespace jitrace {

// A call of a recorded run at which something else is done than a kill beside it, and for how many of its kind (the same
// role, the same call) it stands: with Writes::ends the first, the middle and the last of them are tried.
struct FaultPoint {
  StepName step;          // after
  std::size_t call = 0;   // index in the recording
  std::size_t calls = 1;
  int error = 0;          // what it answers, if it does
  Cut cut = Cut::none;
};

// The errors that a sweep can answer: "ENOSPC", …. Which calls can return them is what the manual pages say of a local
// file system and nfs(5) adds: ENOSPC and EIO of a close and an fsync, ESTALE of everything with a path or a descriptor.
std::vector<std::string> sweepable_errors();

// Calls that can answer `error`, whether they succeeded or not.
std::vector<FaultPoint> error_points(const Recording& recording, int error, Writes which);
// Calls that made or removed a name, each with what an NFS server answers to the same request again: EEXIST, ENOENT.
std::vector<FaultPoint> lost_reply_points(const Recording& recording, Writes which);
// Writes of at least two bytes: cut to half, and to all but the last byte.
std::vector<FaultPoint> cut_points(const Recording& recording, Writes which);

}  // namespace jitrace
