#include <set>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {

void find_foreign(const TrialView& view, TrialVerdict& verdict) {
  std::set<Slot> told;
  for (const LoadFact& load : view.loads) {
    if (kind_of(view, load) != LoadKind::foreign) continue;
    if (!load.last_of_get) {
      verdict.notes.push_back(fmt::format("{} saw a foreign artifact and went on", view.who(load.slot)));
      continue;
    }
    if (!told.insert(load.slot).second) continue;
    const AttemptFact* maker = load.attempt == 0 ? nullptr : view.attempt(load.attempt);
    std::string cause = "of an attempt that nobody made here";
    if (load.code != 0) {
      cause = load.message;
    } else if (load.message.find("mixed") != std::string::npos) {
      cause = "a mix of two builds";
    } else if (maker != nullptr && maker->key != load.key) {
      cause = "of another key";
    } else if (maker != nullptr) {
      cause = "of another build than its own";
    }
    std::string line = fmt::format("{} asked for {} at {} and got an artifact {}", view.who(load.slot),
                                   view.kernel(load.key), view.when(load.stamp), cause);
    if (maker != nullptr) {
      line += fmt::format(": attempt {:016x} of {} for {}", maker->id, view.who(maker->slot), view.kernel(maker->key));
    }
    verdict.findings.push_back(
        {FindingClass::foreign, cause, 0, view.round_at(load.stamp), load.slot, load.key, {line}});
  }
  for (const SnapshotEntry& entry : view.history.snapshot) {
    if (!told.empty() || !entry.state.starts_with("foreign")) continue;
    verdict.findings.push_back({FindingClass::foreign, "left in the cache", 0, view.plan.rounds, driver_slot, 0,
                                {fmt::format("{} lies in the cache at the end: {}", entry.path, entry.state)}});
    break;
  }
}

}  // namespace jitrace
