#include <fmt/format.h>

#include "base/text.h"
#include "scenario/sections.h"

namespace jitrace {
namespace {

std::vector<std::string> point_names() {
  std::vector<std::string> names;
  for (const Point point : all_points()) names.emplace_back(name_of(point));
  return names;
}

// "builder", "builder 2", "*"
void read_victim(const Word& word, Reading& reading, FaultStep& step) {
  if (word.text == "*") {
    step.every_victim = true;
    return;
  }
  const auto parts = split(word.text, ' ');
  const std::string name = parts.empty() ? "" : parts[0];
  const auto victim = parse_victim(name);
  if (!victim || *victim == Victim::none) {
    reading.complaints.add(word.place, unknown("victim", name, victim_names()));
    return;
  }
  step.who = *victim;
  if (parts.size() == 1) return;
  const auto index = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
  if (!index || *index < 1 || *index > 4096) {
    reading.complaints.add(word.place, fmt::format("\"{}\" does not read \"{} 2\"", word.text, name));
    return;
  }
  step.index = static_cast<int>(*index);
}

void check_step(TableReader& table, Reading& reading, const FaultStep& step, const Word& what) {
  const FaultKind kind = step.what.kind;
  const auto only_for = [&](std::string_view key, bool present, bool fits, std::string_view whom) {
    if (present && !fits) {
      reading.complaints.add(table.place_of(key), fmt::format("\"{}\" is for {}, and this is \"{}\"", key, whom, what.text));
    }
  };
  only_for("who", hits_a_process(kind) && step.who == Victim::other, false, "a wipe, a clear or damage by another process");
  only_for("waiters", step.waiters > 0, !step.at_random, "a fault at a point");
  only_for("at", step.at_random, kind == FaultKind::kill && (step.who == Victim::worker || step.who == Victim::tree),
           "the kill of a worker or its tree if it is \"random\"");
  only_for("until", step.until != Point::none, kind == FaultKind::stop, "a stop");
  only_for("order", step.order != OrphanOrder::none,
           (kind == FaultKind::kill || kind == FaultKind::exit_137) &&
               (step.every_victim || step.who == Victim::builder || step.who == Victim::worker),
           "the kill of a builder that leaves its compiler behind");
  only_for("path", !step.path.empty(), kind == FaultKind::wipe || kind == FaultKind::damage, "a wipe or damage");
  only_for("who", kind == FaultKind::exit_137 && !step.every_victim,
           step.who == Victim::builder || step.who == Victim::waiter || step.who == Victim::worker, "a worker if it is to exit");
}

// The step of this table, if it has one.
void read_step(TableReader& table, Reading& reading, std::vector<FaultStep>& out) {
  const auto what = table.word("what");
  const auto who = table.word("who");
  const auto at = table.word("at");
  const auto occurrence = table.integer("occurrence", 1, 1'000'000);
  const auto waiters = table.integer("waiters", 0, 4096);
  const auto order = table.word("order");
  const auto until = table.word("until");
  const auto path = table.word("path");
  if (!what) {
    for (const std::string_view key : {"who", "at", "occurrence", "waiters", "order", "until", "path"}) {
      const Node* given = table.any(key);
      if (given != nullptr) reading.complaints.add(given->place, fmt::format("\"{}\" without \"what\"", key));
    }
    return;
  }
  FaultStep step;
  const auto word = parse_fault_word(what->text);
  // The other words of the step are read nevertheless, for their own errors.
  if (!word) reading.complaints.add(what->place, unknown("fault", what->text, fault_words()));
  step.what = word.value_or(FaultWord{});
  step.who = hits_a_process(step.what.kind) ? Victim::builder : Victim::other;
  if (who) read_victim(*who, reading, step);
  if (!at) {
    reading.complaints.add(table.place_of("what"), "a fault needs \"at\": the point where it strikes");
  } else if (at->text == "*") {
    step.every_point = true;
  } else if (at->text == "random") {
    step.at_random = true;
  } else if (one_of(*at, "point", point_names(), reading)) {
    step.at = parse_point(at->text).value_or(Point::none);
  }
  step.occurrence = occurrence.value_or(1);
  step.waiters = waiters.value_or(0);
  if (order && one_of(*order, "order", orphan_order_names(), reading)) {
    step.order = parse_orphan_order(order->text).value_or(OrphanOrder::none);
  }
  if (until && one_of(*until, "point", point_names(), reading)) step.until = parse_point(until->text).value_or(Point::none);
  if (path && good_path(*path, reading)) step.path = path->text;
  check_step(table, reading, step, *what);
  out.push_back(std::move(step));
}

std::vector<BeforeStep> read_before(const std::vector<const Node*>& nodes, Reading& reading) {
  std::vector<BeforeStep> out;
  for (const Node* node : nodes) {
    TableReader table(node, "an entry of before", reading.complaints);
    BeforeStep step;
    int actions = 0;
    for (const std::string_view action : {"put", "entry", "cut", "empty", "replace", "remove"}) {
      const auto path = table.word(action);
      if (!path) continue;
      ++actions;
      step.action = action;
      if (good_path(*path, reading)) step.path = path->text;
    }
    if (actions != 1) {
      reading.complaints.add(table.place(), "an entry of \"before\" is one of put, entry, cut, empty, replace, remove");
    }
    if (const auto content = table.word("content")) {
      step.content = content->text;
      if (step.action != "put" && step.action != "replace") {
        reading.complaints.add(content->place, "\"content\" is for put and replace");
      }
    }
    table.finish();
    out.push_back(std::move(step));
  }
  return out;
}

void read_fault(const Node* node, Reading& reading, std::vector<FaultEntry>& out, std::vector<FaultSource>& sources) {
  TableReader table(node, "[[fault]]", reading.complaints);
  FaultEntry fault;
  const auto name = table.word("name");
  if (const auto about = table.word("about")) fault.about = about->text;
  read_step(table, reading, fault.steps);
  for (const Node* also : table.tables("also")) {
    TableReader step(also, "an entry of also", reading.complaints);
    read_step(step, reading, fault.steps);
    step.finish();
  }
  fault.before = read_before(table.tables("before"), reading);
  FaultSource source{table.place(), {}};
  if (auto subjects = table.words("subjects")) source.subjects = std::move(*subjects);
  fault.subjects = texts(source.subjects);
  if (const auto rename = table.word("rename"); rename && one_of(*rename, "rename", {"local", "nfs-busy"}, reading)) {
    fault.rename = rename->text;
  }
  if (const auto mode = table.word("mode"); mode && one_of(*mode, "mode", {"gated", "free"}, reading)) {
    fault.mode = mode->text;
  }
  fault.clients = table.integer("clients", 1, 64);
  fault.workers = table.integer("workers", 1, 4096);
  fault.rounds = table.integer("rounds", 1, 1000);
  fault.gets = table.integer("gets", 1, 1'000'000);
  fault.keys = table.integer("keys", 0, 4096);
  fault.trials = table.integer("trials", 1, 1'000'000);
  fault.bound_scale = table.number("bound_scale", 1e-6, 1e3);
  if (const auto watchdog = table.integer("watchdog_s", 1, 86'400)) fault.watchdog = seconds(*watchdog);
  table.finish();

  if (name) {
    if (!good_name(*name, reading)) return;
    fault.name = name->text;
  } else if (!fault.steps.empty() || !fault.before.empty()) {
    reading.complaints.add(table.place(), "a fault needs a name, which the report and the expectations call it by");
    return;
  }
  for (const FaultEntry& other : out) {
    if (other.name == fault.name) {
      reading.complaints.add(name ? name->place : table.place(), fmt::format("a fault \"{}\" was there before", fault.name));
    }
  }
  out.push_back(std::move(fault));
  sources.push_back(std::move(source));
}

}  // namespace

void read_faults(const std::vector<const Node*>& nodes, Reading& reading, std::vector<FaultEntry>& out,
                 std::vector<FaultSource>& sources) {
  for (const Node* node : nodes) read_fault(node, reading, out, sources);
}

}  // namespace jitrace
