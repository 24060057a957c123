#pragma once

#include "base/clock.h"
#include "base/fd.h"

namespace jitrace {

// The descriptor by which the driver tells a builder to exit while it waits for its compiler or polls a lock. Exits
// with 137 without running any clean-up, so what it started stays behind.
enum class Woken { by_descriptor, by_time };
// Waits until `fd` is readable (-1: none), or for `limit` ns (negative: for ever).
Woken wait_controlled(const Fd& control, int fd, Nanoseconds limit);
inline void sleep_controlled(const Fd& control, Nanoseconds limit) { wait_controlled(control, -1, limit); }

}  // namespace jitrace
