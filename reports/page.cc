#include "reports/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/wrap.h"

namespace jitrace {

Page::Page(const ConsoleOptions& options)
    : colour_(options.colour), width_(static_cast<std::size_t>(std::max(60, options.width))) {}

std::string Page::ink(std::string text, Ink how) const {
  if (colour_ == Colour::never || how == Ink::plain) return text;
  const char* code = how == Ink::bold ? "1" : how == Ink::good ? "32" : how == Ink::bad ? "31" : "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Page::line(std::string_view text, Ink how) {
  out_ += ink(std::string(text), how);
  out_ += '\n';
}

void Page::paragraph(std::string_view first, std::string_view text, Ink how) {
  const std::size_t indent = columns(first);
  bool start = true;
  for (const std::string& part : wrap(for_terminal(text), width_ - indent)) {
    line((start ? std::string(first) : std::string(indent, ' ')) + part, how);
    start = false;
  }
}

namespace {

// As a shell would, with the quotes left on.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  char before = 0;
  for (const char c : line) {
    if (c == '\'' && (quoted || before != '\\')) quoted = !quoted;
    if (c == ' ' && !quoted) words.emplace_back();
    else words.back() += c;
    before = c;
  }
  return words;
}

}  // namespace

void Page::command(std::string_view indent, std::string_view text) {
  std::string current(indent);
  bool empty = true;
  for (const std::string& word : words_of(for_terminal(text))) {
    if (!empty && columns(current) + columns(word) + 3 > width_) {
      line(current + " \\", Ink::bold);
      current = std::string(indent) + "    ";
      empty = true;
    }
    current += (empty ? "" : " ") + word;
    empty = false;
  }
  line(current, Ink::bold);
}

void Page::heading(std::string_view text) {
  out_ += '\n';
  paragraph("", text, Ink::bold);
}

}  // namespace jitrace
