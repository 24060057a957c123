#include "reports/escape.h"

#include <algorithm>

#include <fmt/format.h>

namespace jitrace {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// The length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (overlong forms, surrogates
// and what lies above U+10FFFF are none).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// C1 controls (U+0080 to U+009F) are commands to some terminals.
bool control_sequence(std::string_view sequence) {
  return sequence.size() == 2 && static_cast<unsigned char>(sequence[0]) == 0xc2 &&
         static_cast<unsigned char>(sequence[1]) < 0xa0;
}

// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: what follows would be shown in another order than it is in.
bool reorders(std::string_view sequence) {
  if (sequence.size() != 3 || !sequence.starts_with("\xe2")) return false;
  const auto second = static_cast<unsigned char>(sequence[1]), third = static_cast<unsigned char>(sequence[2]);
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

template <class Write>
std::string each(std::string_view text, Write write) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      result += replacement;
      text.remove_prefix(1);
      continue;
    }
    write(result, text.substr(0, length));
    text.remove_prefix(length);
  }
  return result;
}

void visible(std::string& out, std::string_view sequence) {
  for (const char c : sequence) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  return each(text, [](std::string& out, std::string_view sequence) { out += sequence; });
}

std::string for_terminal(std::string_view text) {
  return each(text, [](std::string& out, std::string_view sequence) {
    if (sequence == "\n" || sequence == "\t") {
      out += ' ';
    } else if (control(static_cast<unsigned char>(sequence[0])) || control_sequence(sequence) || reorders(sequence)) {
      visible(out, sequence);
    } else {
      out += sequence;
    }
  });
}

std::string for_xml(std::string_view text) {
  return each(text, [](std::string& out, std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence == "&") out += "&amp;";
    else if (sequence == "<") out += "&lt;";
    else if (sequence == ">") out += "&gt;";
    else if (sequence == "\"") out += "&quot;";
    else if (sequence == "'") out += "&apos;";
    else if (sequence == "\n") out += "&#10;";
    else if (sequence == "\t") out += "&#9;";
    else if (control(first) || sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf") visible(out, sequence);
    else out += sequence;
  });
}

std::string for_markdown(std::string_view text) {
  return each(text, [](std::string& out, std::string_view sequence) {
    const char first = sequence[0];
    if (first == '\n' || first == '\t' || first == '\r') out += ' ';
    else if (control(static_cast<unsigned char>(first)) || reorders(sequence)) visible(out, sequence);
    else if (first == '&') out += "&amp;";
    else if (first == '<') out += "&lt;";
    else if (first == '>') out += "&gt;";
    else if (first == '@') out += "&#64;";
    else if (first == '#') out += "&#35;";
    else if (std::string_view("\\`*_{}[]|~!").find(first) != std::string_view::npos) (out += '\\') += first;
    else out += sequence;
  });
}

std::string code_block(std::string_view text) {
  const std::string clean = for_terminal(text);
  std::size_t longest = 2, run = 0;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}\n{}\n{}\n", fence, clean, fence);
}

std::string for_command_data(std::string_view text) {
  return each(text, [](std::string& out, std::string_view sequence) {
    if (sequence == "%") out += "%25";
    else if (sequence == "\r") out += "%0D";
    else if (sequence == "\n") out += "%0A";
    else if (control(static_cast<unsigned char>(sequence[0]))) visible(out, sequence);
    else out += sequence;
  });
}

std::string for_command_property(std::string_view text) {
  std::string result;
  for (const char c : for_command_data(text)) {
    if (c == ':') result += "%3A";
    else if (c == ',') result += "%2C";
    else result += c;
  }
  return result;
}

}  // namespace jitrace
