#include "search/sweep_plans.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "plan/call_words.h"

namespace jitrace {
namespace {

// The changes up to and with the class's own, a run of writes once: what a program is recognised by when it is replayed.
std::vector<std::string> changes_before(const Recording& recording, std::size_t end) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < end && i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.round != 1 || !call.changed) continue;
    std::string step = recording.processes[static_cast<std::size_t>(call.process)].role + ": " + call.what;
    // How many pieces a file is written in is the C library's affair.
    if (CallWords(call.what).is({"write"}) && !out.empty() && out.back() == step) continue;
    out.push_back(std::move(step));
  }
  return out;
}

std::vector<std::string> changes_until(const Recording& recording, const KillClass& at) {
  return at.step.side == Side::before ? std::vector<std::string>() : changes_before(recording, at.call + 1);
}

}  // namespace

std::vector<TracePlan> varied_recordings(const TracePlan& recording) {
  constexpr std::string_view worker = "{worker}";
  std::vector<TracePlan> plans{recording};
  plans.front().fresh = 1;
  TracePlan other = recording;
  bool named = false;
  for (std::string& word : other.command) {
    for (std::size_t at = 0; (at = word.find(worker, at)) != std::string::npos; named = true) word.replace(at, worker.size(), "1");
  }
  if (named) plans.push_back(std::move(other));
  return plans;
}

std::vector<StepName> snapshot_moments(const std::vector<KillClass>& classes) {
  std::vector<StepName> out;
  for (const KillClass& at : classes) {
    if (at.step.side == Side::after) out.push_back(at.step);
  }
  return out;
}

bool leaves_orphans(const History& recorded, const KillClass& at) {
  std::set<Slot> living;
  std::size_t calls = 0;
  for (const Event& event : recorded.events) {
    if (event.kind == EventKind::process_started) living.insert(event.slot);
    if (event.kind == EventKind::process_ended) living.erase(event.slot);
    if (event.kind == EventKind::call && calls++ == at.call) break;
  }
  living.erase(0);
  return at.step.side == Side::after && !living.empty();
}

bool copy_tells_all(const History& recorded, const KillClass& at) {
  std::set<Slot> mapped;
  std::size_t calls = 0;
  for (const Event& event : recorded.events) {
    // An exec starts anew, without what was mapped.
    if (event.kind == EventKind::process_started || event.kind == EventKind::process_ended) mapped.erase(event.slot);
    if (event.kind != EventKind::call) continue;
    const bool failed = event.a < 0 && event.a >= -4095;
    if (event.text.starts_with("map ") && !failed) mapped.insert(event.slot);
    if (calls++ == at.call) break;
  }
  return mapped.empty();
}

bool takes_a_lock_away(const Recording& recording, const History& recovery) {
  std::set<std::string, std::less<>> exclusive, locks;
  for (const RecordedCall& call : recording.calls) {
    if (!call.changed) continue;
    const CallWords words(call.what);
    if (!words.makes().empty()) exclusive.emplace(words.makes());
    if (exclusive.contains(words.removes())) locks.emplace(words.removes());
  }
  std::set<std::string, std::less<>> own;
  const auto is_others = [&](std::string_view name) { return locks.contains(name) && !own.contains(name); };
  for (const Event& event : recovery.events) {
    if (event.kind != EventKind::call || event.b == 0) continue;
    const CallWords words(event.text);
    if (!words.makes().empty()) own.emplace(words.makes());
    if (is_others(words.path()) || is_others(words.target())) return true;
  }
  return false;
}

std::vector<std::string> concurrent_roles(const History& recorded) {
  std::map<Slot, std::string> living;
  std::set<std::string> found;
  for (const Event& event : recorded.events) {
    if (event.kind == EventKind::process_ended) living.erase(event.slot);
    if (event.kind != EventKind::process_started) continue;
    const std::string role = event.text.substr(0, event.text.find('|'));
    for (const auto& [slot, other] : living) {
      if (slot != event.slot && other == role) found.insert(role);
    }
    living[event.slot] = role;
  }
  return {found.begin(), found.end()};
}

TracePlan recover_plan(const SweepBase& base, const Recording& recording, const KillClass& at, const std::string& snapshot) {
  TracePlan plan = base;
  plan.work = TraceWork::recover;
  plan.restore = snapshot;
  plan.steps = changes_until(recording, at);
  return plan;
}

TracePlan kill_plan(const SweepBase& base, const Recording& recording, const KillClass& at, SweepColumn column) {
  TracePlan plan = base;
  plan.work = TraceWork::kill;
  plan.step = at.step;
  const bool first = column == SweepColumn::builder_orphan_first || column == SweepColumn::builder_orphan_first_waiter;
  plan.who = kills_tree(column) ? Victim::tree : Victim::builder;
  plan.order = kills_tree(column) ? OrphanOrder::none : first ? OrphanOrder::first : OrphanOrder::held;
  plan.waiters = has_waiter(column) ? 1 : 0;
  plan.steps = changes_until(recording, at);
  return plan;
}

TracePlan fault_plan(const SweepBase& base, const Recording& recording, const FaultPoint& at, Reply reply) {
  TracePlan plan = base;
  plan.work = at.cut == Cut::none ? TraceWork::answer : TraceWork::kill;
  plan.step = at.step;
  plan.cut = at.cut;
  plan.reply = reply;
  plan.error = at.error;
  plan.signal = 9;  // what a cut leaves is nobody's to clean up
  plan.steps = changes_before(recording, at.call);
  return plan;
}

std::vector<std::size_t> rows_to_confirm(std::size_t rows, std::uint64_t seed) {
  std::vector<std::size_t> all(rows);
  for (std::size_t i = 0; i < rows; ++i) all[i] = i;
  Rng rng(seed);
  for (std::size_t i = rows; i > 1; --i) std::swap(all[i - 1], all[rng.below(i)]);
  all.resize(rows == 0 ? 0 : std::max<std::size_t>(1, rows / 10));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace jitrace
