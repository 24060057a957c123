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

// Their names: those of NAME.cu in that directory, sorted.
std::vector<std::string> kernel_names(const std::string& directory);

// All names that a scenario may use, but for kernels: those differ with where the scenario lies.
Catalogue make_catalogue();

}  // namespace jitrace
