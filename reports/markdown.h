#pragma once

#include <cstddef>
#include <string>

#include "verdict/cell.h"

namespace jitrace {

// GitHub refuses a step summary of more than 1 MiB, whole.
inline constexpr std::size_t markdown_limit = 1024 * 1024 - 1;

// A summary for $GITHUB_STEP_SUMMARY. Never longer than the limit: what does not fit is counted and left to
// report.json.
std::string render_markdown(const Report& report, std::size_t limit = markdown_limit);

}  // namespace jitrace
