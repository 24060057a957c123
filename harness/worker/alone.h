#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "loader/loader.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// What one get, made by a program of its own, is told by its arguments.
struct AloneOptions {
  std::string preset;
  std::string cache;
  std::string kernel = "axpy";     // of the installed kernels, or the path of a .cu
  Toolchain toolchain;             // program empty: as find_toolchains has it
  std::string arch = "sm_90a";
  LoaderOptions loader;            // kind empty: the one for what the toolchain makes
  double bound_scale = 1.0;
  Nanoseconds fake_duration = 0;

  // The arguments that parse() makes these of, the program left out.
  std::vector<std::string> words() const;
  static Result<AloneOptions> parse(const std::vector<std::string>& words);
};

// The program `get`: one get of one kernel by a preset, with the calls and the waits that a worker of a trial makes,
// and nothing of a trial around it: no board, no gates, no shims. So a preset is a program like any other. Prints what
// came of it; 0: the kernel is loaded and whole; 1: it is not; 64: usage; 70: our own fault.
int alone_main(int argc, char** argv);

}  // namespace jitrace
