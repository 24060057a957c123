#include "loader/decisions.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "loader/embedded.h"

namespace jitrace {
namespace {

constexpr std::array<std::string_view, input_count> input_names = {
    "missing", "empty", "one_byte", "cut_header", "cut_sections", "cut_tail",
    "text",    "ptx",   "wrong_arch", "flipped_body", "whole"};

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

bool set_field(Decision& row, std::string_view name, std::string_view value) {
  if (name == "code") {
    const std::optional<std::int64_t> code = parse_int(value);
    if (code) row.code = *code;
    return code.has_value();
  }
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return false;
  value = value.substr(1, value.size() - 2);
  if (name == "input") {
    const std::optional<Input> input = parse_input(value);
    if (input) row.input = *input;
    return input.has_value();
  }
  if (name == "api") {
    row.api = value == "library" ? DriverApi::library : DriverApi::module;
    return value == "library" || value == "module";
  }
  if (name == "basis") row.basis = value;
  return name == "basis";
}

}  // namespace

std::string_view name_of(Input input) { return input_names[static_cast<std::size_t>(input)]; }
std::string_view name_of(DriverApi api) { return api == DriverApi::library ? "library" : "module"; }

std::optional<Input> parse_input(std::string_view name) {
  for (std::size_t i = 0; i < input_names.size(); ++i) {
    if (input_names[i] == name) return static_cast<Input>(i);
  }
  return std::nullopt;
}

Result<Decisions> Decisions::parse(std::string_view text, const std::string& path) {
  Decisions decisions;
  int number = 0;
  const auto wrong = [&](const std::string& why) {
    return make_error("read driver decisions", path + ":" + std::to_string(number), 0, why);
  };
  for (const std::string& raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line == "[[row]]") {
      decisions.rows_.emplace_back();
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || decisions.rows_.empty()) return wrong("expected [[row]] or name = value");
    const std::string_view name = trimmed(line.substr(0, equals));
    if (!set_field(decisions.rows_.back(), name, trimmed(line.substr(equals + 1)))) {
      return wrong("unknown name or ill-typed value of \"" + std::string(name) + "\"");
    }
  }
  for (std::size_t i = 0; i < input_count; ++i) {
    for (const DriverApi api : {DriverApi::module, DriverApi::library}) {
      int found = 0;
      for (const Decision& row : decisions.rows_) found += row.input == static_cast<Input>(i) && row.api == api ? 1 : 0;
      if (found != 1) {
        return wrong(std::string(input_names[i]) + " x " + std::string(name_of(api)) + " stands there " +
                     std::to_string(found) + " times");
      }
    }
  }
  return decisions;
}

Result<Decisions> Decisions::read(const std::string& path) {
  if (path.empty()) return parse(embedded_driver_decisions, "driver_decisions.toml");
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse(text, path);
}

const Decision& Decisions::look_up(Input input, DriverApi api) const {
  for (const Decision& row : rows_) {
    if (row.input == input && row.api == api) return row;
  }
  check_failed("every input has a row", __FILE__, __LINE__);
}

void Decisions::set(const Decision& decision) {
  for (Decision& row : rows_) {
    if (row.input == decision.input && row.api == decision.api) row = decision;
  }
}

std::string Decisions::text() const {
  std::string text;
  for (const Decision& row : rows_) {
    text += "[[row]]\ninput = \"" + std::string(name_of(row.input)) + "\"\napi = \"" + std::string(name_of(row.api)) +
            "\"\ncode = " + std::to_string(row.code) + "\nbasis = \"" + row.basis + "\"\n\n";
  }
  return text;
}

}  // namespace jitrace
