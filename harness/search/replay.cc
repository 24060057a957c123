#include "search/replay.h"

#include "base/file.h"
#include "base/rng.h"

namespace jitrace {

Result<Plan> read_plan(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  auto plan = Plan::parse(text);
  if (!plan) return make_error(plan.error().operation, path, plan.error().code, plan.error().note);
  return plan;
}

Plan again(const Plan& plan, int k) {
  Plan out = plan;
  out.trial = k;
  if (k > 1) out.seed = derive_seed(plan.seed, static_cast<std::uint64_t>(k));
  return out;
}

}  // namespace jitrace
