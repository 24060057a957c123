#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/options.h"

namespace jitrace {

bool is_traced_plan(const std::string& text);
// Carries the plan out again and says how often it shows what it showed.
ExitCode replay_traced(const std::string& text, const ReplayOptions& options);

}  // namespace jitrace
