#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/run_dir.h"
#include "plan/cells.h"
#include "toolchain/toolchain.h"
#include "trial/lane.h"
#include "trial/setup.h"

namespace jitrace {

// What `run`, `replay` and `report` share before the first trial.

struct Machine {
  std::string libexec;
  std::vector<ToolchainProbe> probes;
  Usable usable;
  std::vector<Toolchain> toolchains;
};
Result<Machine> look_around(const std::vector<std::string>& nvcc);

// The directories under test, made and tried out: DIR/jitrace-<run>, one a client. Nothing else in DIR is touched.
Result<std::vector<std::string>> make_caches(const std::vector<std::string>& dirs, const std::string& run_dir,
                                             const std::string& run_id);

Result<std::vector<Lane>> start_lanes(int count, const std::string& libexec, const std::vector<std::string>& scrap);

// `unusable` for what the place under test or of the output refused (full, read-only, forbidden), else our own fault.
ExitCode code_for(const Error& error);
// Prints the sentence on standard error, after the program's name, and gives the code.
ExitCode complain(const Error& error, ExitCode code);

}  // namespace jitrace
