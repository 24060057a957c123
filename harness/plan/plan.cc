#include "plan/plan.h"

#include <charconv>

#include <fmt/format.h>

#include "base/fields.h"
#include "base/text.h"

namespace jitrace {
namespace {

constexpr int version = 1;
using Items = std::vector<std::pair<std::string, std::string>>;
using Values = std::map<std::string, std::string>;

Error refuse(std::string_view field, std::string_view why) {
  return plain_error("read plan", fmt::format("\"{}\": {}", field, why));
}

// The shortest text that gives the same number again.
std::string real_text(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

Result<std::int64_t> take_int(const Values& values, const std::string& name, std::int64_t low, std::int64_t high) {
  const auto at = values.find(name);
  if (at == values.end()) return refuse(name, "missing");
  const auto value = parse_int(at->second);
  if (!value || *value < low || *value > high) {
    return refuse(name, fmt::format("{} is not within {} to {}", at->second, low, high));
  }
  return *value;
}

Result<std::string> take(const Values& values, const std::string& name) {
  const auto at = values.find(name);
  if (at == values.end()) return refuse(name, "missing");
  return at->second;
}

// The named value of an enum, through its parse function.
template <class T>
Result<T> take_name(const Values& values, const std::string& name, std::optional<T> (*parse)(std::string_view)) {
  TRY_ASSIGN(const std::string text, take(values, name));
  const auto value = parse(text);
  if (!value) return refuse(name, "unknown: " + text);
  return *value;
}

std::optional<Point> parse_point_or_none(std::string_view name) {
  return name == name_of(Point::none) ? std::optional(Point::none) : parse_point(name);
}

std::string fault_text(const FaultPlan& fault) {
  Items items{{"kind", std::string(name_of(fault.kind))},
                    {"who", std::string(name_of(fault.who))},
                    {"index", std::to_string(fault.index)},
                    {"point", std::string(name_of(fault.point))},
                    {"occurrence", std::to_string(fault.occurrence)},
                    {"signal", std::to_string(fault.signal)},
                    {"damage", std::string(name_of(fault.damage))},
                    {"path", fault.path},
                    {"order", std::string(name_of(fault.order))},
                    {"until", std::string(name_of(fault.until))},
                    {"random", fault.at_random ? "1" : "0"}};
  if (fault.waiters > 0) items.push_back({"waiters", std::to_string(fault.waiters)});
  return pack(items);
}

Result<FaultPlan> parse_fault(const std::string& text) {
  TRY_ASSIGN(const Values values, unpack(text));
  FaultPlan fault;
  TRY_ASSIGN(fault.kind, take_name(values, "kind", parse_fault_kind));
  TRY_ASSIGN(fault.who, take_name(values, "who", parse_victim));
  TRY_ASSIGN(const std::int64_t index, take_int(values, "index", 1, 1'000'000));
  TRY_ASSIGN(fault.point, take_name(values, "point", parse_point_or_none));
  TRY_ASSIGN(const std::int64_t occurrence, take_int(values, "occurrence", 1, 1'000'000));
  TRY_ASSIGN(const std::int64_t signal, take_int(values, "signal", 0, 64));
  TRY_ASSIGN(fault.damage, take_name(values, "damage", parse_damage));
  TRY_ASSIGN(fault.path, take(values, "path"));
  TRY_ASSIGN(fault.order, take_name(values, "order", parse_orphan_order));
  TRY_ASSIGN(fault.until, take_name(values, "until", parse_point_or_none));
  TRY_ASSIGN(const std::int64_t random, take_int(values, "random", 0, 1));
  if (values.contains("waiters")) {
    TRY_ASSIGN(const std::int64_t waiters, take_int(values, "waiters", 1, 4096));
    fault.waiters = static_cast<int>(waiters);
  }
  if (fault.kind == FaultKind::kill && signal == 0) return refuse("signal", "0 kills nobody");
  if (random == 1 && fault.kind != FaultKind::kill) return refuse("random", "a random moment is for kills");
  fault.index = static_cast<int>(index);
  fault.occurrence = static_cast<int>(occurrence);
  fault.signal = static_cast<int>(signal);
  fault.at_random = random == 1;
  return fault;
}

Result<int> small_int(const Fields& fields, std::string_view name, std::int64_t low, std::int64_t high) {
  TRY_ASSIGN(const std::int64_t value, fields.get_int(name));
  if (value < low || value > high) return refuse(name, fmt::format("{} is not within {} to {}", value, low, high));
  return static_cast<int>(value);
}

Result<void> parse_lists(const Fields& fields, Plan& plan) {
  plan.command = fields.all("command");
  plan.kernels = fields.all("kernel");
  plan.cache_dirs = fields.all("cache_dir");
  for (const std::string& text : fields.all("worker")) {
    TRY_ASSIGN(const Values values, unpack(text));
    WorkerPlan worker;
    TRY_ASSIGN(worker.preset, take(values, "preset"));
    TRY_ASSIGN(const std::int64_t client, take_int(values, "client", 0, 4096));
    TRY_ASSIGN(worker.action, take(values, "action"));
    worker.client = static_cast<int>(client);
    plan.workers.push_back(std::move(worker));
  }
  for (const std::string& text : fields.all("before")) {
    TRY_ASSIGN(const Values values, unpack(text));
    BeforePlan before;
    TRY_ASSIGN(before.action, take(values, "action"));
    TRY_ASSIGN(before.path, take(values, "path"));
    TRY_ASSIGN(before.content, take(values, "content"));
    plan.before.push_back(std::move(before));
  }
  for (const std::string& text : fields.all("fault")) {
    TRY_ASSIGN(FaultPlan fault, parse_fault(text));
    plan.faults.push_back(std::move(fault));
  }
  if (plan.workers.empty()) return refuse("worker", "a plan needs at least one");
  for (const WorkerPlan& worker : plan.workers) {
    if (worker.client >= plan.clients) return refuse("worker", fmt::format("there is no client {}", worker.client));
  }
  return {};
}

}  // namespace

std::string Plan::text() const {
  Fields fields("plan", version);
  fields.add("scenario", scenario);
  fields.add("cell", cell);
  fields.add("trial", trial);
  fields.add("seed", hex(seed));
  fields.add("mode", name_of(mode));
  fields.add("subject", subject);
  fields.add("cause", cause);
  for (const std::string& word : command) fields.add("command", word);
  fields.add("toolchain", toolchain);
  fields.add("arch", arch);
  fields.add("loader", loader);
  fields.add("load_api", load_api);
  fields.add("device", device);
  for (const std::string& kernel : kernels) fields.add("kernel", kernel);
  fields.add("rounds", rounds);
  fields.add("gets", gets);
  fields.add("clients", clients);
  for (const std::string& dir : cache_dirs) fields.add("cache_dir", dir);
  fields.add("rename", rename);
  fields.add("bound_scale", real_text(bound_scale));
  fields.add("fake_duration", fake_duration);
  fields.add("watchdog", watchdog);
  for (const BeforePlan& step : before) {
    fields.add("before", pack({{"action", step.action}, {"path", step.path}, {"content", step.content}}));
  }
  for (const FaultPlan& fault : faults) fields.add("fault", fault_text(fault));
  for (const WorkerPlan& worker : workers) {
    fields.add("worker",
               pack({{"preset", worker.preset}, {"client", std::to_string(worker.client)}, {"action", worker.action}}));
  }
  return fields.text();
}

Result<Plan> Plan::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, "plan", version));
  Plan plan;
  TRY_ASSIGN(plan.scenario, fields.get("scenario"));
  TRY_ASSIGN(plan.cell, fields.get("cell"));
  TRY_ASSIGN(plan.trial, small_int(fields, "trial", 0, 1'000'000));
  TRY_ASSIGN(const std::string seed, fields.get("seed"));
  const auto bits = parse_hex(seed);
  if (!bits) return refuse("seed", "not 16 hex digits: " + seed);
  plan.seed = *bits;
  TRY_ASSIGN(const std::string mode, fields.get("mode"));
  const auto known_mode = parse_mode(mode);
  if (!known_mode) return refuse("mode", "unknown: " + mode);
  plan.mode = *known_mode;
  TRY_ASSIGN(plan.subject, fields.get("subject"));
  TRY_ASSIGN(plan.cause, fields.get("cause"));
  TRY_ASSIGN(plan.toolchain, fields.get("toolchain"));
  TRY_ASSIGN(plan.arch, fields.get("arch"));
  TRY_ASSIGN(plan.loader, fields.get("loader"));
  TRY_ASSIGN(plan.load_api, fields.get("load_api"));
  TRY_ASSIGN(plan.device, fields.get("device"));
  TRY_ASSIGN(plan.rounds, small_int(fields, "rounds", 1, 1000));
  TRY_ASSIGN(plan.gets, small_int(fields, "gets", 1, 1'000'000));
  TRY_ASSIGN(plan.clients, small_int(fields, "clients", 1, 4096));
  TRY_ASSIGN(plan.rename, fields.get("rename"));
  TRY_ASSIGN(const std::string scale, fields.get("bound_scale"));
  const auto number = parse_real(scale);
  if (!number || !(*number > 0)) return refuse("bound_scale", "not a number above 0: " + scale);
  plan.bound_scale = *number;
  TRY_ASSIGN(plan.fake_duration, fields.get_int("fake_duration"));
  TRY_ASSIGN(plan.watchdog, fields.get_int("watchdog"));
  if (plan.fake_duration < 0 || plan.watchdog <= 0) return refuse("watchdog", "a duration is not below 0");
  TRY(parse_lists(fields, plan));
  return plan;
}

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::gated: return "gated";
    case Mode::free: return "free";
  }
  return "?";
}

std::optional<Mode> parse_mode(std::string_view name) {
  if (name == "gated") return Mode::gated;
  if (name == "free") return Mode::free;
  return std::nullopt;
}

std::string describe(const FaultPlan& fault) {
  std::string whom(name_of(fault.who == Victim::other ? Victim::builder : fault.who));
  const bool numbered = fault.who == Victim::builder || fault.who == Victim::waiter || fault.who == Victim::worker ||
                        fault.who == Victim::other;
  if (numbered) whom += fmt::format(" {}", fault.index);
  else if (fault.index > 1) whom += fmt::format(" of builder {}", fault.index);
  std::string out = fault_word(fault.kind, fault.signal, fault.damage);
  if (!fault.path.empty()) out += " of " + fault.path;
  out += hits_a_process(fault.kind) ? " of " + whom : " by another process when " + whom + " is";
  if (fault.at_random) out += " at a random moment";
  else if (fault.point != Point::none) out += fmt::format(" at {}", name_of(fault.point));
  if (fault.occurrence > 1) out += fmt::format(" for the {}. time", fault.occurrence);
  if (fault.waiters > 0) out += fmt::format(" while {} others wait", fault.waiters);
  if (fault.order != OrphanOrder::none) out += fmt::format(", {}", name_of(fault.order));
  if (fault.kind == FaultKind::stop) {
    out += fault.until == Point::none ? std::string(", for ever")
                                      : fmt::format(", until another worker is at {}", name_of(fault.until));
  }
  return out;
}

}  // namespace jitrace
