#pragma once

#include <cstdint>

#include "process/guard.h"

namespace jitrace {

// Where trials run one after the other: a guard, and the process ids that were given out under it.
struct Lane {
  int number = 0;
  Guard guard;
  std::uint32_t next_id = 0;
};

}  // namespace jitrace
