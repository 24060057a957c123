#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.h"

namespace jitrace {

// A scenario, or everything that is wrong with its text, one "file:line:column: sentence" each, in the file's order.
struct ParsedScenario {
  std::optional<Scenario> scenario;
  std::vector<std::string> errors;
};

// `file` is for messages and the scenario's default name only.
ParsedScenario parse_scenario(std::string_view text, std::string_view file, const Catalogue& catalogue);
ParsedScenario load_scenario(const std::string& path, const Catalogue& catalogue);

// The commented file of defaults, as it was built in.
std::string_view default_scenario();

}  // namespace jitrace
