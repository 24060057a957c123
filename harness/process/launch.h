#pragma once

#include "process/process.h"

namespace jitrace {

struct Launched {
  pid_t pid = -1;
  Fd pidfd;
};

// What its argv[0] stands for: itself if it holds a slash, else the first on PATH. An error if there is no such program.
Result<std::string> find_program(const Command& command);

// Starts `command` and returns once the child has become the new program, or with the errno that stopped it (it is
// reaped then). The caller owns the child.
Result<Launched> launch(const Command& command);

}  // namespace jitrace
