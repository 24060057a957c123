#include "plan/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "plan/call_words.h"

namespace jitrace {
namespace {

// The process of that index; what the history does not tell of it stays empty.
RecordedProcess& process_at(Recording& recording, Slot slot) {
  if (recording.processes.size() <= slot) recording.processes.resize(slot + std::size_t{1});
  return recording.processes[slot];
}

void add_process(Recording& recording, const Event& event) {
  RecordedProcess& process = process_at(recording, event.slot);
  const std::size_t bar = event.text.find('|');
  process.role = event.text.substr(0, bar);
  process.arguments = bar == std::string::npos ? "" : event.text.substr(bar + 1);
  process.parent = static_cast<int>(event.a);
  process.pid = event.pid;
}

constexpr int first_before = 1 << 16;  // beyond any slot

// What a shell does between fork and exec (a redirection) is done as the shell: its calls keep the role they had.
void keep_program(Recording& recording, std::vector<RecordedProcess>& before, const Event& event) {
  if (event.slot >= recording.processes.size()) return;
  const RecordedProcess& process = recording.processes[event.slot];
  if (process.role == event.text.substr(0, event.text.find('|'))) return;
  const int kept = first_before + static_cast<int>(before.size());
  bool made_calls = false;
  for (RecordedCall& call : recording.calls) {
    if (call.process != event.slot) continue;
    call.process = kept;
    made_calls = true;
  }
  if (made_calls) before.push_back(process);
}

// What would end a line, and what separates the parts: \x0a.
std::string escaped(std::string_view text, std::string_view also) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\' || also.find(c) != std::string_view::npos) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    if (i + 3 >= text.size() || text[i + 1] != 'x') return std::nullopt;
    const auto value = parse_hex(text.substr(i + 2, 2));
    if (!value) return std::nullopt;
    result += static_cast<char>(*value);
    i += 3;
  }
  return result;
}

// Where " (N)" begins at the end of `text`, and N; npos where it has none.
struct Suffix {
  std::size_t at = std::string_view::npos;
  int number = 1;
};
Suffix suffix_of(std::string_view text) {
  if (!text.ends_with(')')) return {};
  const std::size_t at = text.rfind(" (");
  if (at == std::string_view::npos) return {};
  const std::string_view digits = text.substr(at + 2, text.size() - at - 3);
  if (digits.empty() || digits.size() > 9 || digits[0] == '0') return {};
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return {at, static_cast<int>(*parse_int(digits))};
}

Error bad_step(std::string_view text) {
  return plain_error("read step", fmt::format("'{}' is not 'before|after ROLE: CALL (N)'", text));
}

}  // namespace

Recording recording_of(const History& history) {
  Recording recording;
  std::vector<RecordedProcess> before;  // what a process was when it made calls, and then became another program
  Nanoseconds start = history.events.empty() ? 0 : history.events.front().stamp;
  for (const Event& event : history.events) {
    if (event.kind == EventKind::trial_begin) start = event.stamp;
    if (event.slot == driver_slot) continue;
    if (event.kind == EventKind::process_started) {
      keep_program(recording, before, event);
      add_process(recording, event);
    }
    if (event.kind != EventKind::call) continue;
    process_at(recording, event.slot);
    recording.calls.push_back({.process = event.slot,
                               .round = event.key,
                               .what = event.text,
                               .result = event.a,
                               .changed = event.b != 0,
                               .at = event.stamp - start});
  }
  for (RecordedCall& call : recording.calls) {
    if (call.process >= first_before) call.process += static_cast<int>(recording.processes.size()) - first_before;
  }
  recording.processes.insert(recording.processes.end(), before.begin(), before.end());
  return recording;
}

std::vector<std::string> touched(const Recording& recording, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const std::string root = path_pattern(path);
    const bool met = std::any_of(recording.calls.begin(), recording.calls.end(), [&root](const RecordedCall& call) {
      const CallWords words(call.what);
      return is_under(words.path(), root) || is_under(words.target(), root);
    });
    if (met) out.push_back(path);
  }
  return out;
}

std::map<std::string, std::size_t> counts_of(const History& counted) {
  std::map<std::string, std::size_t> counts;
  for (const Event& event : counted.events) {
    if (event.kind == EventKind::counted) counts[event.text] += static_cast<std::size_t>(event.a);
  }
  return counts;
}

std::map<std::string, std::size_t> counts_of(const Recording& recording) {
  std::map<std::string, std::size_t> counts;
  for (const RecordedCall& call : recording.calls) {
    if (call.round == 1) ++counts[call.what];
  }
  return counts;
}

std::set<std::string> asked_again(const Recording& recording) {
  std::set<std::pair<std::string, std::string>> once;
  std::set<std::string> again;
  for (const RecordedCall& call : recording.calls) {
    // A lock that could not be made is a look at it.
    const bool looks = CallWords(call.what).only_looks() || (call.result < 0 && !call.changed);
    if (call.round != 1 || !looks) continue;
    const std::string& role = recording.processes.at(static_cast<std::size_t>(call.process)).role;
    if (!once.insert({role, call.what}).second) again.insert(call.what);
  }
  return again;
}

std::set<std::string> asked_again(const History& counted) {
  std::set<std::string> again;
  for (const Event& event : counted.events) {
    if (event.kind == EventKind::counted && event.b == 1) again.insert(event.text);
  }
  return again;
}

CountDifferences differences(const std::map<std::string, std::size_t>& recorded, const std::map<std::string, std::size_t>& counted,
                             const std::set<std::string>& again) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> both;
  for (const auto& [what, times] : recorded) both[what].first = times;
  for (const auto& [what, times] : counted) both[what].second = times;
  CountDifferences found;
  for (const auto& [what, times] : both) {
    if (times.first == times.second) continue;
    const bool may_be = again.contains(what) && times.first > 0 && times.second > 0;
    (may_be ? found.again : found.otherwise).push_back(fmt::format("{}: {} and {}", what, times.first, times.second));
  }
  return found;
}

std::string StepName::text() const {
  std::string call = escaped(what, "");
  // A call that ends like a number of occurrences always gets one, so that the last is the one that counts.
  if (occurrence > 1 || suffix_of(call).at != std::string_view::npos) call += fmt::format(" ({})", occurrence);
  return fmt::format("{} {}: {}", side == Side::before ? "before" : "after", escaped(role, ":"), call);
}

Result<StepName> StepName::parse(std::string_view text) {
  StepName step;
  std::string_view rest = text;
  for (const auto& [word, side] : {std::pair{"before ", Side::before}, std::pair{"after ", Side::after}}) {
    if (!rest.starts_with(word)) continue;
    step.side = side;
    rest.remove_prefix(std::string_view(word).size());
    break;
  }
  const std::size_t colon = rest.find(": ");
  if (rest.size() == text.size() || colon == std::string_view::npos) return bad_step(text);
  std::string_view call = rest.substr(colon + 2);
  if (const Suffix suffix = suffix_of(call); suffix.at != std::string_view::npos) {
    step.occurrence = suffix.number;
    call = call.substr(0, suffix.at);
  }
  const auto role = unescaped(rest.substr(0, colon)), what = unescaped(call);
  if (!role || !what || role->empty() || what->empty()) return bad_step(text);
  step.role = *role;
  step.what = *what;
  return step;
}

}  // namespace jitrace
