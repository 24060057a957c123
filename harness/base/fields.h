#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jitrace {

// The line format that plans, worker specs and kept histories share: one `name value` a line, in order, names may
// repeat. Values hold anything: backslash, newline, carriage return, tab and NUL are written as \\ \n \r \t \0.
// The first line is `jitrace KIND VERSION`, so a file of another kind or time is refused by name.
class Fields {
 public:
  Fields(std::string kind, int version) : kind_(std::move(kind)), version_(version) {}

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value);
  std::string text() const;

  // Fails when the first line is not of this kind and version, or a line has no name.
  static Result<Fields> parse(std::string_view text, std::string_view kind, int version);

  // The first of that name; a missing one is an error that names it.
  Result<std::string> get(std::string_view name) const;
  Result<std::int64_t> get_int(std::string_view name) const;
  std::string get_or(std::string_view name, std::string_view fallback) const;
  std::vector<std::string> all(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& lines() const { return lines_; }

 private:
  std::string kind_;
  int version_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

// Several values in one field: `a=1 b=two\ words`. Spaces, '=' and backslashes inside a value are escaped.
std::string pack(const std::vector<std::pair<std::string, std::string>>& items);
Result<std::map<std::string, std::string>> unpack(std::string_view text);

}  // namespace jitrace
