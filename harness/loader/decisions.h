#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jitrace {

// What kind of file the driver was given.
enum class Input {
  missing,
  empty,
  one_byte,
  cut_header,
  cut_sections,
  cut_tail,      // in the last 200 bytes
  text,
  ptx,
  wrong_arch,
  flipped_body,  // whole in form, wrong inside: no reader of headers can tell it from `whole`
  whole,
};
inline constexpr std::size_t input_count = 11;
std::string_view name_of(Input input);
std::optional<Input> parse_input(std::string_view name);

enum class DriverApi { module, library };
std::string_view name_of(DriverApi api);

struct Decision {
  Input input = Input::missing;
  DriverApi api = DriverApi::module;
  std::int64_t code = 0;   // the CUresult
  std::string basis;       // "assumed", "measured (driver 580.65, 2026-01-31)"
};

// The table of driver_decisions.toml: every input for every call, each exactly once.
class Decisions {
 public:
  static Result<Decisions> parse(std::string_view text, const std::string& path);
  static Result<Decisions> read(const std::string& path);  // empty: the copy that was built in

  // Puts a measured answer in place of the row for the same input and call.
  void set(const Decision& decision);
  const Decision& look_up(Input input, DriverApi api) const;
  const std::vector<Decision>& rows() const { return rows_; }
  std::string text() const;  // as a file; without the comments at its head

 private:
  std::vector<Decision> rows_;
};

}  // namespace jitrace
