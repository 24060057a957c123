#pragma once

#include <string>

#include "plan/plan.h"

namespace jitrace {

// The one plan that `replay FILE` carries out. Fails, naming the file, if it is no plan of this version.
Result<Plan> read_plan(const std::string& path);

// The same plan as the k-th try of a replay: the seed of the first is the plan's own, so that it is the very same plan.
Plan again(const Plan& plan, int k);

}  // namespace jitrace
