#include "reports/wrap.h"

#include <algorithm>

namespace jitrace {
namespace {

bool starts_sequence(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Bytes of the first `width` columns.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t at = 0, seen = 0;
  for (; at < text.size(); ++at) {
    if (starts_sequence(text[at]) && seen++ == width) break;
  }
  return at;
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += starts_sequence(c) ? 1 : 0;
  return count;
}

std::string fit(std::string_view text, std::size_t width, Fill fill) {
  std::string result(text);
  if (columns(text) > width && width > 0) result = std::string(text.substr(0, bytes_of(text, width - 1))) + "…";
  if (fill == Fill::yes) result.append(width - std::min(width, columns(result)), ' ');
  return result;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (columns(text) > width) {
    const std::size_t most = bytes_of(text, width);
    // A space right behind the last column still ends a word there.
    const std::size_t space = text.rfind(' ', most);
    const bool usable = space != std::string_view::npos && space > 0;
    lines.emplace_back(text.substr(0, usable ? space : most));
    text.remove_prefix(usable ? space + 1 : most);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace jitrace
