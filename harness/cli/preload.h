#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/traced.h"

namespace jitrace {

// `--preload`: modules that one Python imports for all trials.

// Why it cannot be done for this command: a clause; empty if it can.
std::string preload_refusal(const std::vector<std::string>& command, const std::vector<std::string>& modules);

// Records the imports alone, which must not touch the cache, and starts the run's zygote; `socket` is for the plans'
// `zygote`. Nothing: done. Else why not, and it is said.
std::optional<ExitCode> preload(TracedRun& run, const std::vector<std::string>& modules, std::string* socket);

}  // namespace jitrace
