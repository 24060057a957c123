#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "verdict/oracles.h"
#include "verdict/signatures.h"

namespace jitrace {
namespace {

// A private directory of an attempt is nobody's entry; what is torn there is at most a leak.
bool in_private_place(const std::string& path) {
  for (const std::string& part : split(path, '/')) {
    for (const std::string_view start : {"tmp", ".tmp", "private", "attempt"}) {
      if (part.starts_with(start)) return true;
    }
  }
  return false;
}

bool torn_state(const SnapshotEntry& entry) { return entry.state.starts_with("torn") && !in_private_place(entry.path); }

int last_round(const TrialView& view) {
  int last = 1;
  for (const auto& [slot, worker] : view.workers) last = std::max(last, worker.round);
  return last;
}

void find_poisoned(const TrialView& view, TrialVerdict& verdict) {
  const auto still = std::find_if(view.history.snapshot.begin(), view.history.snapshot.end(), torn_state);
  if (still == view.history.snapshot.end()) return;
  const int last = last_round(view);
  if (last == 1 && view.plan.before.empty()) return;  // nobody has come after it yet
  const LoadFact* torn = nullptr;
  for (const LoadFact& load : view.loads) {
    const WorkerFact* worker = view.worker(load.slot);
    if (worker == nullptr || worker->round != last || !load.last_of_get) continue;
    if (kind_of(view, load) == LoadKind::torn && torn == nullptr) torn = &load;
  }
  if (torn == nullptr) return;
  for (const LoadFact& load : view.loads) {
    const WorkerFact* worker = view.worker(load.slot);
    if (worker != nullptr && worker->round == last && load.key == torn->key && load.correct()) return;  // repaired
  }
  verdict.findings.push_back(
      {FindingClass::poisoned, torn->message, 0, last, torn->slot, torn->key,
       {fmt::format("{} of {} bytes is still {}", still->path, still->size, still->state),
        fmt::format("{} found it so at {}: {}", view.who(torn->slot), view.when(torn->stamp), torn->message)}});
}

}  // namespace

void find_torn(const TrialView& view, TrialVerdict& verdict) {
  std::set<Slot> told;
  for (const LoadFact& load : view.loads) {
    if (kind_of(view, load) != LoadKind::torn) continue;
    if (!load.last_of_get) {
      verdict.notes.push_back(fmt::format("{} saw a torn artifact and went on: {}", view.who(load.slot), load.message));
      continue;
    }
    if (!told.insert(load.slot).second) continue;
    const std::string cause = load.code == 0 ? "loaded, but not intact" : load.message;
    verdict.findings.push_back({FindingClass::torn, cause, 0, view.round_at(load.stamp), load.slot, load.key,
                                {fmt::format("{} loaded {} at {}: {}", view.who(load.slot), view.kernel(load.key),
                                             view.when(load.stamp), cause)}});
  }
  if (!view.plan.command.empty()) {
    for (const auto& [slot, worker] : view.workers) {
      const auto signature = classify(worker.error);
      if (!signature || signature->kind != "torn" || !told.insert(slot).second) continue;
      verdict.findings.push_back({FindingClass::torn, signature->code, 0, worker.round, slot, 0,
                                  {fmt::format("{}: {}", view.who(slot), signature->line)}});
    }
  }
  if (told.empty()) {
    for (const SnapshotEntry& entry : view.history.snapshot) {
      if (!torn_state(entry)) continue;
      verdict.findings.push_back(
          {FindingClass::torn,
           "left in the cache",
           0,
           last_round(view),
           driver_slot,
           0,
           {fmt::format("{} of {} bytes lies in the cache at the end: {}", entry.path, entry.size, entry.state)}});
      break;
    }
  }
  find_poisoned(view, verdict);
}

}  // namespace jitrace
