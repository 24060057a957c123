#include "event/event.h"

#include <array>

namespace jitrace {
namespace {

constexpr std::array event_names = std::to_array<std::string_view>({
    "none",          "trial_begin", "round_begin", "round_end",   "process_started", "process_adopted", "process_ended",
    "fault_fired",   "fault_missed", "hang_proved", "watchdog",   "settled",         "ready",           "released",
    "get_begin",     "get_end",     "reached",     "resumed",     "waiting",         "wait_over",       "attempt_begin",
    "attempt_end",   "file_op",     "loaded",      "warned",      "outcome",         "tool_begin",      "tool_output",
    "tool_end",      "served_request", "call",     "parked",      "time_passed",
    "elsewhere",     "counted"});
constexpr std::array condition_names =
    std::to_array<std::string_view>({"none", "absent", "flock", "reply", "child", "gate"});
constexpr std::array cause_names = std::to_array<std::string_view>(
    {"none", "stale owner", "live stuck owner", "inherited descriptor", "lock call never returns", "cycle"});
constexpr std::array role_names = std::to_array<std::string_view>(
    {"none", "build_tool", "compiler", "shell", "stage", "linker", "daemon"});
constexpr std::array outcome_names =
    std::to_array<std::string_view>({"none", "built", "served", "fell_back", "failed", "killed_by_plan",
                                     "killed_by_other", "crashed", "hung", "stalled", "could_not_start"});

static_assert(event_names.size() == static_cast<std::size_t>(EventKind::counted) + 1);
static_assert(outcome_names.size() == static_cast<std::size_t>(Outcome::could_not_start) + 1);

template <class Names, class Value>
std::string_view look_up(const Names& names, Value value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

template <class Value, class Names>
std::optional<Value> find(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Value>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(EventKind kind) { return look_up(event_names, kind); }
std::string_view name_of(ConditionKind kind) { return look_up(condition_names, kind); }
std::string_view name_of(HangCause cause) { return look_up(cause_names, cause); }
std::string_view name_of(ToolRole role) { return look_up(role_names, role); }
std::string_view name_of(Outcome outcome) { return look_up(outcome_names, outcome); }
std::optional<EventKind> parse_event_kind(std::string_view name) { return find<EventKind>(event_names, name); }
std::optional<Outcome> parse_outcome(std::string_view name) { return find<Outcome>(outcome_names, name); }

}  // namespace jitrace
