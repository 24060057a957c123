#pragma once

#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// The only place where the driver waits. Returns which of the borrowed descriptors can be read; none: the deadline
// (CLOCK_MONOTONIC, 0 for none) has passed.
Result<std::vector<int>> wait_readable(const std::vector<int>& descriptors, Nanoseconds deadline);

}  // namespace jitrace
