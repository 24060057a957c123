#pragma once

#include "process/process.h"

namespace jitrace {

struct Launched {
  pid_t pid = -1;
  Fd pidfd;
};

// Starts `command` and returns once the child has become the new program, or with the errno that stopped it (it is
// reaped then). The caller owns the child.
Result<Launched> launch(const Command& command);

}  // namespace jitrace
