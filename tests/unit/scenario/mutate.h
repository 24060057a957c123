#pragma once

#include <string>
#include <string_view>

#include "base/rng.h"

namespace jitrace {

// A scenario text with one to four things wrong: bytes flipped, cut, doubled or moved, words of the format put where
// they do not belong. The same text for the same state of the generator.
inline std::string mutate(std::string text, Rng& rng) {
  static constexpr std::string_view words[] = {
      "[[", "]]", "[", "]", "{", "}", "=", "\"", "'", "\"\"\"", "\n", "#", ",", ".", "\\", "\\u0000", "\\UFFFFFFFF", "-1",
      "99999999999999999999", "9223372036854775807", "nan", "-inf", "1e400", "0x", "true", "1979-05-27T07:32:00Z", "07:32:00",
      "\xff\xfe", "\xef\xbb\xbf", "\xf0\x9f", "{a={a={a={a=1}}}}", "[[[[[[[[[[", "*", "subject", "fault", "expect", "workload",
      "builder 99999999999", "builder -1", "\"*\"", "[[subject]]\n", "[[fault]]\nname = \"x\"\n", "keys = [0, 0]\n",
      "before = [{}]\n", "also = [[]]\n", "{ min = 2, max = 1 }"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng.below(n == 0 ? 1 : n)); };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(40), text.size() - at);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4:
        text.insert(at, words[below(std::size(words))]);
        break;
      default:
        text.replace(at, length, words[below(std::size(words))]);
    }
  }
  return text;
}

}  // namespace jitrace
