#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jitrace {

// Columns that a text takes: a UTF-8 sequence counts as one.
std::size_t columns(std::string_view text);
// Cut to `width` columns, with "…" for what is gone; filled up with spaces where `Fill::yes`.
enum class Fill { no, yes };
std::string fit(std::string_view text, std::size_t width, Fill fill = Fill::no);
// Lines of at most `width` columns, broken at spaces; what is longer than a line is broken where it must be.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace jitrace
