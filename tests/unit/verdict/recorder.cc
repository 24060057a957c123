#include "unit/verdict/recorder.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace jitrace {

Recorder::Recorder(const std::string& preset, int workers, int rounds, int keys) {
  plan.scenario = "unit";
  plan.cell = preset + "/none/fake";
  plan.trial = 1;
  plan.subject = preset;
  plan.cause = "none";
  plan.toolchain = "fake";
  plan.rounds = rounds;
  for (int i = 0; i < keys; ++i) plan.kernels.push_back("kernel" + std::to_string(i));
  for (int i = 0; i < workers; ++i) plan.workers.push_back({preset, 0, "get"});
  add(EventKind::trial_begin).text = "token";
}

Event& Recorder::add(EventKind kind, Slot slot) {
  clock_ += milliseconds(1);
  Event event;
  event.stamp = clock_;
  event.kind = kind;
  event.slot = slot;
  if (slot != driver_slot) event.pid = 1000u + slot;
  history.events.push_back(event);
  return history.events.back();
}

void Recorder::round(int number) {
  const auto width = static_cast<int>(plan.workers.size());
  const auto from = (number - 1) * width;
  for (int i = 0; i < width; ++i) {
    const auto slot = static_cast<Slot>(from + i);
    add(EventKind::process_started, slot);
    add(EventKind::ready, slot);
    running_.insert(slot);
  }
  add(EventKind::round_begin).a = number;
  for (int i = 0; i < width; ++i) add(EventKind::released, static_cast<Slot>(from + i));
}

void Recorder::reach(Slot slot, Point point, const std::string& path, std::int64_t inode, std::uint16_t key) {
  Event& event = add(EventKind::reached, slot);
  event.point = point;
  event.text = path;
  event.b = inode;
  event.key = key;
}

void Recorder::waits(Slot slot, ConditionKind kind, const std::string& path, Nanoseconds bound, std::uint16_t key) {
  Event& event = add(EventKind::waiting, slot);
  event.a = static_cast<std::int64_t>(kind);
  event.b = bound;
  event.text = path;
  event.key = key;
}

void Recorder::attempt(Slot slot, std::uint64_t id, std::uint16_t key) {
  Event& event = add(EventKind::attempt_begin, slot);
  event.attempt = id;
  event.key = key;
}

void Recorder::attempt_ends(Slot slot, std::uint64_t id, std::int64_t status, const std::string& output) {
  Event& event = add(EventKind::attempt_end, slot);
  event.attempt = id;
  event.a = status;
  event.text = output;
}

void Recorder::tool(Slot slot, std::uint32_t pid, std::uint64_t attempt, ToolRole role) {
  Event& event = add(EventKind::tool_begin, slot);
  event.pid = pid;
  event.attempt = attempt;
  event.a = static_cast<std::int64_t>(role);
  event.text = "tool";
}

void Recorder::output(std::uint64_t attempt, std::int64_t phase, const std::string& path) {
  Event& event = add(EventKind::tool_output, 900);
  event.attempt = attempt;
  event.a = phase;
  event.text = path;
}

void Recorder::load(Slot slot, std::uint64_t stamp, std::int64_t flags, LoadCode code, const std::string& message,
                    std::uint16_t key) {
  Event& event = add(EventKind::loaded, slot);
  event.attempt = stamp;
  event.a = static_cast<std::int64_t>(code);
  event.b = flags;
  event.text = message;
  event.key = key;
}

void Recorder::outcome(Slot slot, Outcome outcome, const std::string& error) {
  Event& event = add(EventKind::outcome, slot);
  event.a = static_cast<std::int64_t>(outcome);
  event.text = error;
}

void Recorder::ends(Slot slot, int status, std::int64_t how) {
  Event& event = add(EventKind::process_ended, slot);
  event.a = status;
  event.b = how;
  running_.erase(slot);
}

void Recorder::fire(Slot slot, FaultKind kind, Victim who) {
  FaultPlan fault;
  fault.kind = kind;
  fault.who = who;
  fault.point = Point::compile;
  plan.faults.push_back(fault);
  plan.cause = "fault";
  Event& event = add(EventKind::fault_fired, slot);
  event.a = static_cast<std::int64_t>(plan.faults.size()) - 1;
  event.pid = 0;
  const bool worker = who == Victim::builder || who == Victim::worker || who == Victim::waiter || who == Victim::tree;
  if (worker && kind == FaultKind::kill) ends(slot, 9, 1);
  if (worker && kind == FaultKind::exit_137) ends(slot, 137 << 8, 1);
}

void Recorder::hang(Slot slot, int round, const std::string& chain) {
  Event& event = add(EventKind::hang_proved, slot);
  event.a = static_cast<std::int64_t>(HangCause::stale_owner);
  event.b = round;
  event.text = chain;
  ends(slot, 9, 2);
}

TrialVerdict Recorder::verdict() {
  for (const Slot slot : std::set<Slot>(running_)) ends(slot);
  add(EventKind::settled);
  return judge(plan, history);
}

bool has(const TrialVerdict& verdict, FindingClass kind) { return findings(verdict, kind) > 0; }

int findings(const TrialVerdict& verdict, FindingClass kind) {
  return static_cast<int>(std::count_if(verdict.findings.begin(), verdict.findings.end(),
                                        [&](const Finding& finding) { return finding.kind == kind; }));
}

const Finding& first(const TrialVerdict& verdict, FindingClass kind) {
  static const Finding none;
  for (const Finding& finding : verdict.findings) {
    if (finding.kind == kind) return finding;
  }
  ADD_FAILURE() << "no finding of the class " << name_of(kind);
  return none;
}

}  // namespace jitrace
