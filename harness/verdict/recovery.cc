#include <algorithm>
#include <map>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

bool has_lock(const WorkerFact& worker) {
  return worker.preset == nullptr || !worker.preset->locks.empty();
}

bool daemon_preset(const WorkerFact& worker) {
  return worker.preset != nullptr &&
         std::any_of(worker.preset->locks.begin(), worker.preset->locks.end(),
                     [](const LockChoice& lock) { return lock.kind == LockKind::daemon; });
}

// Is this the step by which somebody else may build?
bool may_build(const TrialView& view, const Event& event) {
  const WorkerFact* worker = view.worker(event.slot);
  if (worker == nullptr) return event.kind == EventKind::attempt_begin;  // a daemon
  if (event.kind == EventKind::attempt_begin) return daemon_preset(*worker);
  if (event.kind != EventKind::reached) return false;
  return event.point == (has_lock(*worker) && !daemon_preset(*worker) ? Point::lock_held : Point::spawn);
}

// Nobody was waiting for the victim: each other worker of the round had got that far, or was served, before the kill.
// Without a lock one such is enough: whoever comes later waits for nobody either.
bool nobody_waited(const TrialView& view, Slot victim, int round, Nanoseconds kill) {
  std::map<Slot, Nanoseconds> free_since;
  for (const Event& event : view.history.events) {
    const bool free = may_build(view, event) || event.kind == EventKind::outcome ||
                      (event.kind == EventKind::loaded && event.a == 0);
    if (free && view.worker(event.slot) != nullptr) free_since.try_emplace(event.slot, event.stamp);
  }
  bool others = false, all_free = true;
  for (const auto& [slot, worker] : view.workers) {
    if (slot == victim || worker.round != round) continue;
    others = true;
    const auto since = free_since.find(slot);
    const bool was_free = since != free_since.end() && since->second <= kill;
    if (was_free && !has_lock(worker)) return true;
    if (!was_free) all_free = false;
  }
  return others && all_free;
}

// When this survivor had all its keys: the latest of the first correct loads. Nothing if it never had.
std::optional<Nanoseconds> all_keys_at(const TrialView& view, const WorkerFact& worker) {
  if (!served(view, worker)) return std::nullopt;
  std::map<std::uint16_t, Nanoseconds> first;
  for (const LoadFact& load : view.loads) {
    if (load.slot == worker.slot && kind_of(view, load) == LoadKind::fine) first.try_emplace(load.key, load.stamp);
  }
  std::optional<Nanoseconds> last;
  for (const auto& [key, stamp] : first) last = std::max(last.value_or(stamp), stamp);
  // A user's own command loads without telling; then its end is all that is known.
  return last ? last : worker.ended;
}

}  // namespace

Recovery measure_recovery(const TrialView& view) {
  Recovery recovery;
  const FaultFact* kill = view.first_kill();
  if (kill == nullptr) return recovery;
  recovery.applies = true;
  const Slot victim = view.owner_of(*kill);
  const int round = view.round_at(kill->stamp);
  recovery.handoff_shows = view.plan.command.empty();
  if (recovery.handoff_shows && nobody_waited(view, victim, round, kill->stamp)) recovery.handoff = 0;
  for (const Event& event : view.history.events) {
    if (recovery.handoff || !recovery.handoff_shows) break;
    if (event.stamp <= kill->stamp || event.slot == victim || view.round_at(event.stamp) != round) continue;
    if (!may_build(view, event)) continue;
    recovery.handoff = event.stamp - kill->stamp;
  }

  bool all = true;
  std::optional<Nanoseconds> first, last;
  for (const auto& [slot, worker] : view.workers) {
    if (worker.round != round || view.explained(slot)) continue;
    const auto at = all_keys_at(view, worker);
    if (!at) {
      all = false;
      continue;
    }
    last = std::max(last.value_or(*at), *at);
    if (view.loads.empty() && *at > kill->stamp) first = std::min(first.value_or(*at), *at);
  }
  for (const LoadFact& load : view.loads) {
    const WorkerFact* worker = view.worker(load.slot);
    if (worker == nullptr || worker->round != round || view.explained(load.slot) || load.stamp <= kill->stamp) continue;
    if (kind_of(view, load) == LoadKind::fine) first = std::min(first.value_or(load.stamp), load.stamp);
  }
  if (first) recovery.first_served = *first - kill->stamp;
  if (all && last) {
    recovery.all_served = std::max<Nanoseconds>(0, *last - kill->stamp);
    if (!recovery.first_served) recovery.first_served = 0;  // all had been served when the kill came
  }
  return recovery;
}

}  // namespace jitrace
