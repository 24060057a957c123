#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitrace {

std::string hex(std::uint64_t value);  // 16 lower-case digits
std::optional<std::uint64_t> parse_hex(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<double> parse_real(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);  // "" gives no part
// As one word of a shell's line, in quotes only where it needs some.
std::string shell_quoted(std::string_view word);
std::string shell_line(const std::vector<std::string>& words);

std::string join_text(const std::vector<std::string>& parts, std::string_view separator);

// The candidate that a typing error most likely meant: at most a third of its letters differ.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace jitrace
