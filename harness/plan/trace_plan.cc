#include "plan/trace_plan.h"

#include <signal.h>
#include <string.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/fields.h"

namespace jitrace {
namespace {

constexpr std::string_view works[] = {"record", "kill", "recover", "count", "answer"};
constexpr std::string_view cuts[] = {"none", "half", "all-but-one"};
constexpr std::string_view replies[] = {"refused", "lost"};
constexpr int most_errors = 134;

template <std::size_t n>
std::optional<std::size_t> find_word(const std::string_view (&words)[n], std::string_view word) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(words));
}

Error refuse(std::string_view name, std::string_view why) {
  return plain_error("read a traced plan", fmt::format("{}: {}", name, why));
}

Result<std::int64_t> number(const Fields& fields, std::string_view name, std::int64_t low, std::int64_t high) {
  TRY_ASSIGN(const std::int64_t value, fields.get_int(name));
  if (value < low || value > high) return refuse(name, fmt::format("{} is not within {} to {}", value, low, high));
  return value;
}

// What is done at the step besides a plain kill; files of older times say none of it.
Result<void> parse_fault(const Fields& fields, TracePlan& plan) {
  if (!fields.get_or("signal", "").empty()) {
    TRY_ASSIGN(const std::int64_t signal, number(fields, "signal", 1, 64));
    plan.signal = static_cast<int>(signal);
  }
  if (!fields.get_or("waiters", "").empty()) {
    TRY_ASSIGN(const std::int64_t waiters, number(fields, "waiters", 0, 1));
    plan.waiters = static_cast<int>(waiters);
  }
  const std::string cut = fields.get_or("cut", "none");
  const auto known_cut = find_word(cuts, cut);
  if (!known_cut) return refuse("cut", "unknown: " + cut);
  plan.cut = static_cast<Cut>(*known_cut);
  if (plan.work != TraceWork::answer) return {};
  TRY_ASSIGN(const std::string reply, fields.get("reply"));
  const auto known_reply = find_word(replies, reply);
  if (!known_reply) return refuse("reply", "unknown: " + reply);
  plan.reply = static_cast<Reply>(*known_reply);
  TRY_ASSIGN(const std::string error, fields.get("error"));
  const auto known_error = parse_errno(error);
  if (!known_error) return refuse("error", "unknown: " + error);
  plan.error = *known_error;
  return {};
}

}  // namespace

std::string_view name_of(Cut cut) { return cuts[static_cast<std::size_t>(cut)]; }
std::string_view name_of(Reply reply) { return replies[static_cast<std::size_t>(reply)]; }

std::optional<int> parse_errno(std::string_view name) {
  for (int number = 1; number < most_errors; ++number) {
    if (const char* known = ::strerrorname_np(number); known != nullptr && name == known) return number;
  }
  return std::nullopt;
}

std::string name_of_errno(int number) {
  const char* known = ::strerrorname_np(number);
  return known != nullptr ? known : fmt::format("error {}", number);
}

std::string TracePlan::text() const {
  Fields fields("traced-plan", 1);
  fields.add("work", works[static_cast<std::size_t>(work)]);
  for (const std::string& word : command) fields.add("command", word);
  fields.add("directory", directory);
  fields.add("cache", cache);
  if (!around.empty()) fields.add("around", around);
  for (const std::string& path : beside) fields.add("beside", path);
  if (elsewhere == Noticing::yes) fields.add("elsewhere", "noticed");
  fields.add("restore", restore);
  fields.add("snapshots", snapshots);
  for (const StepName& moment : snapshot_at) fields.add("snapshot_at", moment.text());
  if (fresh > 0) fields.add("fresh", static_cast<std::int64_t>(fresh));
  if (step) fields.add("step", step->text());
  if (signal != SIGKILL) fields.add("signal", static_cast<std::int64_t>(signal));
  if (cut != Cut::none) fields.add("cut", name_of(cut));
  if (waiters > 0) fields.add("waiters", static_cast<std::int64_t>(waiters));
  if (work == TraceWork::answer) {
    fields.add("reply", name_of(reply));
    fields.add("error", name_of_errno(error));
  }
  fields.add("who", name_of(who));
  fields.add("order", name_of(order));
  for (const std::string& change : steps) fields.add("change", change);
  if (!tapes.empty()) fields.add("tapes", tapes);
  for (const std::string& role : unordered) fields.add("unordered", role);
  fields.add("polls", static_cast<std::int64_t>(polls));
  fields.add("virtual_bound", virtual_bound);
  fields.add("limit", limit);
  fields.add("showed", showed);
  if (!zygote.empty()) fields.add("zygote", zygote);
  return fields.text();
}

Result<TracePlan> TracePlan::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "traced-plan", 1));
  TracePlan plan;
  TRY_ASSIGN(const std::string work, fields.get("work"));
  const auto index = find_word(works, work);
  if (!index) return refuse("work", "unknown: " + work);
  plan.work = static_cast<TraceWork>(*index);
  plan.command = fields.all("command");
  if (plan.command.empty()) return refuse("command", "missing");
  plan.directory = fields.get_or("directory", "");
  plan.cache = fields.get_or("cache", "");
  plan.around = fields.get_or("around", "");
  plan.beside = fields.all("beside");
  const std::string elsewhere = fields.get_or("elsewhere", "");
  if (!elsewhere.empty() && elsewhere != "noticed") return refuse("elsewhere", "unknown: " + elsewhere);
  plan.elsewhere = elsewhere.empty() ? Noticing::no : Noticing::yes;
  plan.restore = fields.get_or("restore", "");
  plan.snapshots = fields.get_or("snapshots", "");
  for (const std::string& moment : fields.all("snapshot_at")) {
    TRY_ASSIGN(StepName step, StepName::parse(moment));
    plan.snapshot_at.push_back(std::move(step));
  }
  if (fields.get("fresh")) {
    TRY_ASSIGN(const std::int64_t fresh, number(fields, "fresh", 1, 100));
    plan.fresh = static_cast<int>(fresh);
  }
  if (const std::string step = fields.get_or("step", ""); !step.empty()) {
    TRY_ASSIGN(plan.step, StepName::parse(step));
  }
  const bool strikes = plan.work == TraceWork::kill || plan.work == TraceWork::answer;
  if (strikes && !plan.step) return refuse("step", fmt::format("{} needs one", plan.work == TraceWork::kill ? "a kill" : "an answer"));
  TRY(parse_fault(fields, plan));
  TRY_ASSIGN(const std::string who, fields.get("who"));
  const auto victim = parse_victim(who);
  if (!victim || (*victim != Victim::tree && *victim != Victim::builder)) return refuse("who", "is tree or builder, not " + who);
  plan.who = *victim;
  TRY_ASSIGN(const std::string order, fields.get("order"));
  const auto parsed = parse_orphan_order(order);
  if (!parsed) return refuse("order", "unknown: " + order);
  plan.order = *parsed;
  plan.steps = fields.all("change");
  plan.unordered = fields.all("unordered");
  plan.tapes = fields.get_or("tapes", "");
  TRY_ASSIGN(const std::int64_t polls, number(fields, "polls", 1, 1'000'000'000));
  plan.polls = static_cast<std::uint64_t>(polls);
  TRY_ASSIGN(plan.virtual_bound, number(fields, "virtual_bound", 0, seconds(1'000'000'000)));
  TRY_ASSIGN(plan.limit, number(fields, "limit", 1, seconds(1'000'000)));
  plan.showed = fields.get_or("showed", "");
  plan.zygote = fields.get_or("zygote", "");
  return plan;
}

}  // namespace jitrace
