#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "scenario/catalogue.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// Where the helper programs lie: libexec/jitrace beside the program (build tree) or one level up (installed).
Result<std::string> find_libexec();
// Where scenarios/ lies: share/jitrace, beside the program (build tree: a link) or one level up (installed).
std::string find_scenarios();
std::string find_kernels(const std::string& scenario_path);

// All names that a scenario may use.
Catalogue make_catalogue();

}  // namespace jitrace
