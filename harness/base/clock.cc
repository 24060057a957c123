#include "base/clock.h"

#include <ctime>

namespace jitrace {

Nanoseconds now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return seconds(t.tv_sec) + t.tv_nsec;
}

}  // namespace jitrace
