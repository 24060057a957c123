#include "trace/tape_names.h"

#include <algorithm>
#include <cctype>

namespace jitrace {
namespace {

constexpr std::size_t shortest_stem = 6;  // of what mkstemp and its like put into a name

std::string placeholder(std::size_t index) { return index == 0 ? "{tmp}" : "{t" + std::to_string(index) + "}"; }

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

bool in_a_stem(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

TapeNames TapeNames::of(const std::vector<std::string>& arguments, const std::string& temporary) {
  TapeNames names({temporary});
  const std::string below = temporary + "/";
  for (const std::string& word : arguments) {
    for (std::size_t at = word.find(below); at != std::string::npos; at = word.find(below, at + 1)) {
      const auto begin = word.begin() + static_cast<std::ptrdiff_t>(at + below.size());
      std::string stem(begin, std::find_if_not(begin, word.end(), in_a_stem));
      if (stem.size() >= shortest_stem) names.add(stem);
    }
  }
  return names;
}

void TapeNames::add(const std::string& name) {
  if (std::ranges::find(values_, name) == values_.end()) values_.push_back(name);
}

std::string TapeNames::general(std::string text) const {
  for (std::size_t i = 0; i < values_.size(); ++i) replace_all(text, values_[i], placeholder(i));
  return text;
}

std::string TapeNames::particular(std::string text) const {
  for (std::size_t i = 0; i < values_.size(); ++i) replace_all(text, placeholder(i), values_[i]);
  return text;
}

bool TapeNames::fits(const TapeNames& other) const {
  return std::ranges::equal(values_, other.values_, {}, &std::string::size, &std::string::size);
}

// In one go: a name that is put in may be one of the names that are looked for.
std::string TapeNames::translated(std::string bytes, const TapeNames& from) const {
  if (values_ == from.values_) return bytes;
  for (std::size_t at = 0;;) {
    std::size_t first = std::string::npos, which = 0;
    for (std::size_t i = 0; i < from.values_.size(); ++i) {
      const std::size_t found = bytes.find(from.values_[i], at);
      if (found >= first) continue;
      first = found;
      which = i;
    }
    if (first == std::string::npos) return bytes;
    bytes.replace(first, from.values_[which].size(), values_[which]);
    at = first + values_[which].size();
  }
}

bool TapeNames::is_ambiguous(const std::string& text) {
  for (std::size_t at = text.find("{t"); at != std::string::npos; at = text.find("{t", at + 1)) {
    if (text.compare(at, 5, "{tmp}") == 0) return true;
    if (at + 2 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 2])) != 0) return true;
  }
  return false;
}

}  // namespace jitrace
