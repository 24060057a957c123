#include "trace/tape.h"

#include <array>

#include "base/fields.h"
#include "base/text.h"

namespace jitrace {
namespace {

constexpr std::array<std::string_view, 15> ops = {"open",      "close",        "write",      "truncate", "sync",
                                                  "mode",      "mode_of_path", "stat",       "look",     "access",
                                                  "read_link", "unlink",       "remove_dir", "make_dir", "rename"};
constexpr std::array<std::string_view, 4> kinds = {"nothing", "file", "directory", "other"};
static_assert(ops.size() == static_cast<std::size_t>(TapeStep::Op::rename) + 1);
static_assert(kinds.size() == static_cast<std::size_t>(TapeLook::Kind::other) + 1);

template <class Names>
std::optional<std::size_t> index_of(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

Error refuse(const std::string& line) { return plain_error("read a tape", "not understood: " + line); }

// Takes what stands before the next blank; the last of a line may hold blanks.
std::string_view take(std::string_view& rest) {
  const std::size_t blank = rest.find(' ');
  const std::string_view word = rest.substr(0, blank);
  rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  return word;
}

Result<TapeStep> step_of(const std::string& name, const std::string& line) {
  const auto op = index_of(ops, name);
  std::string_view rest = line;
  const auto handle = parse_int(take(rest)), number = parse_int(take(rest)), number2 = parse_int(take(rest));
  if (!op || !handle || !number || !number2) return refuse(name + " " + line);
  TapeStep step;
  step.op = static_cast<TapeStep::Op>(*op);
  step.handle = static_cast<int>(*handle);
  step.number = *number;
  step.number2 = *number2;
  step.path = rest;
  if (const std::size_t end = step.path.find('\0'); end != std::string::npos) {
    step.path2 = step.path.substr(end + 1);
    step.path.resize(end);
  }
  return step;
}

}  // namespace

std::string tape_bytes_file(int handle) { return "bytes." + std::to_string(handle); }

std::string Tape::head() const {
  Fields fields("tape", 1);
  for (const std::string& name : names.values()) fields.add("name", name);
  for (const TapeInput& input : inputs) {
    fields.add("input", (input.identity.empty() ? "-" : input.identity) + " " + hex(input.digest) + " " + input.path);
  }
  for (const TapeLook& look : looks) {
    fields.add("look", std::string(kinds[static_cast<std::size_t>(look.kind)]) + " " + look.path);
  }
  return fields.text();
}

Result<Tape> Tape::parse_head(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "tape", 1));
  Tape tape;
  tape.names = TapeNames(fields.all("name"));
  for (const auto& [name, line] : fields.lines()) {
    std::string_view rest = line;
    if (name == "input") {
      const std::string identity(take(rest));
      const auto digest = parse_hex(take(rest));
      if (!digest) return refuse(line);
      tape.inputs.push_back({std::string(rest), identity == "-" ? "" : identity, *digest});
    } else if (name == "look") {
      const auto kind = index_of(kinds, take(rest));
      if (!kind) return refuse(line);
      tape.looks.push_back({std::string(rest), static_cast<TapeLook::Kind>(*kind)});
    }
  }
  return tape;
}

std::string Tape::body() const {
  Fields fields("tape-steps", 1);
  for (const std::string& name : names.values()) fields.add("name", name);
  for (const TapeStep& step : steps) {
    std::string line =
        std::to_string(step.handle) + " " + std::to_string(step.number) + " " + std::to_string(step.number2);
    if (!step.path.empty()) line += " " + step.path;
    if (!step.path2.empty()) line += std::string(1, '\0') + step.path2;
    fields.add(ops[static_cast<std::size_t>(step.op)], line);
  }
  return fields.text();
}

Result<Tape> Tape::parse_body(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "tape-steps", 1));
  Tape tape;
  tape.names = TapeNames(fields.all("name"));
  for (const auto& [name, line] : fields.lines()) {
    if (name == "name") continue;
    TRY_ASSIGN(TapeStep step, step_of(name, line));
    tape.steps.push_back(std::move(step));
  }
  return tape;
}

}  // namespace jitrace
