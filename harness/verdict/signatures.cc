#include "verdict/signatures.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "verdict/signatures_data.h"

namespace jitrace {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// The pieces between the stars occur in the line, in this order.
bool matches(std::string_view line, std::string_view pattern) {
  std::size_t at = 0;
  for (const std::string& piece : split(pattern, '*')) {
    const auto found = line.find(piece, at);
    if (found == std::string_view::npos) return false;
    at = found + piece.size();
  }
  return true;
}

}  // namespace

std::optional<std::vector<SignatureRow>> parse_signatures(std::string_view text) {
  std::vector<SignatureRow> rows;
  for (const std::string& raw : split(text, '\n')) {
    const std::string line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    const auto first = line.find('|');
    const auto second = first == std::string::npos ? first : line.find('|', first + 1);
    if (second == std::string::npos) return std::nullopt;
    SignatureRow row{trim(line.substr(0, first)), trim(line.substr(first + 1, second - first - 1)),
                     trim(line.substr(second + 1))};
    if (row.kind.empty() || row.code.empty() || row.pattern.empty()) return std::nullopt;
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::vector<SignatureRow>& signature_rows() {
  static const std::vector<SignatureRow> rows = [] {
    auto parsed = parse_signatures(signatures_text());
    JITRACE_CHECK(parsed.has_value());
    return *parsed;
  }();
  return rows;
}

std::optional<Signature> classify(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::vector<std::string> lines = split(text, '\n');
  std::vector<std::string> lowered;
  for (const std::string& line : lines) lowered.push_back(lower(line));
  for (const SignatureRow& row : signature_rows()) {
    const std::string pattern = lower(row.pattern);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (matches(lowered[i], pattern)) return Signature{row.kind, row.code, trim(lines[i])};
    }
  }
  return std::nullopt;
}

}  // namespace jitrace
