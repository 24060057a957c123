#include "reports/wrap.h"

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cwchar>

namespace jitrace {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// wcwidth(3) knows more than ASCII only in a locale that does.
class Utf8 {
 public:
  Utf8() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(::uselocale(locale_)) {}
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;
  ~Utf8() {
    ::uselocale(before_);
    if (locale_ != nullptr) ::freelocale(locale_);
  }

 private:
  locale_t locale_, before_;
};

// Calls take(bytes, columns) for each character, while that says yes.
template <class Take>
void each(std::string_view text, Take take) {
  const Utf8 utf8;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    std::uint32_t code = first < 0x80 ? first : first < 0xe0 ? first & 0x1fu : first < 0xf0 ? first & 0x0fu : first & 0x07u;
    std::size_t length = 1;
    while (length < text.size() && continues(text[length])) code = code << 6 | (static_cast<unsigned char>(text[length++]) & 0x3fu);
    const int width = ::wcwidth(static_cast<wchar_t>(code));
    if (!take(length, static_cast<std::size_t>(width < 0 ? 1 : width))) return;
    text.remove_prefix(length);
  }
}

// Bytes of what fits into `width` columns.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0, seen = 0;
  each(text, [&](std::size_t length, std::size_t columns) {
    if (seen + columns > width) return false;
    seen += columns;
    bytes += length;
    return true;
  });
  return bytes;
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  each(text, [&count](std::size_t, std::size_t columns) {
    count += columns;
    return true;
  });
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
    std::size_t most = bytes_of(text, width);
    // A character that is wider than the line stands there whole.
    while (most == 0 || (most < text.size() && continues(text[most]))) ++most;
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
