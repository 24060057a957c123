#pragma once

#include <string>
#include <vector>

#include "process/process.h"
#include "strategy/run/run.h"

namespace jitrace {

// The complete environment of a compiler of this attempt.
Result<std::vector<std::string>> build_environment(const Build& build, const Job& job);

struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> make_pipe();

// Both wait under the control descriptor and announce the wait. `read_to_end` does as popen and Python's communicate
// do: everything up to the end of file first (which every process that inherited the pipe holds back), then the child.
Result<WaitStatus> wait_for(Process& process, Probe& probe, const Fd& control);
Result<WaitStatus> read_to_end(Process& process, const Fd& pipe, std::string* output, Probe& probe, const Fd& control);

}  // namespace jitrace
