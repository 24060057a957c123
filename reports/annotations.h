#pragma once

#include <string>
#include <vector>

#include "verdict/cell.h"

namespace jitrace {

// GitHub shows ten annotations of a kind per step and drops the rest, so the last of ten says how many more there are.
inline constexpr std::size_t most_annotations = 10;

// Workflow commands, a line each, to be printed to a step's output: `::error …` for what was not met, `::warning …` for
// what is inconclusive.
std::vector<std::string> github_annotations(const Report& report);

}  // namespace jitrace
