#include "plan/chooser.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace jitrace {

Result<std::size_t> PrefixChooser::choose(const std::vector<Step>& enabled) {
  JITRACE_CHECK(!enabled.empty());
  if (next_ >= prefix_.size()) return std::size_t{0};
  const Step& wanted = prefix_[next_];
  const auto at = std::find(enabled.begin(), enabled.end(), wanted);
  if (at == enabled.end()) {
    return plain_error("follow the plan", fmt::format("the subject has diverged at step {}: {} of slot {} is not enabled",
                                                      next_ + 1, wanted.what, wanted.slot));
  }
  ++next_;
  return static_cast<std::size_t>(at - enabled.begin());
}

}  // namespace jitrace
