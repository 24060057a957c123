#include <set>

#include <fmt/format.h>

#include "verdict/oracles.h"
#include "verdict/signatures.h"

namespace jitrace {

void find_missing(const TrialView& view, TrialVerdict& verdict) {
  std::set<Slot> told;
  const auto add = [&](FindingClass kind, std::string cause, Slot slot, std::uint16_t key, Nanoseconds stamp,
                       std::string line) {
    verdict.findings.push_back({kind, std::move(cause), 0, view.round_at(stamp), slot, key, {std::move(line)}});
  };
  for (const LoadFact& load : view.loads) {
    if (kind_of(view, load) != LoadKind::missing) continue;
    if (!load.last_of_get) {
      verdict.notes.push_back(fmt::format("{} looked again after \"{}\"", view.who(load.slot), load.message));
      continue;
    }
    if (!told.insert(load.slot).second) continue;
    add(FindingClass::missing, load.message, load.slot, load.key, load.stamp,
        fmt::format("{} loaded {} at {}: {}", view.who(load.slot), view.kernel(load.key), view.when(load.stamp),
                    load.message));
  }
  std::set<Slot> source_told;
  for (const AttemptFact& attempt : view.attempts) {
    if (!attempt.end || attempt.status == 0) continue;
    const auto signature = classify(attempt.output);
    if (!signature || signature->kind != "source_missing" || !source_told.insert(attempt.slot).second) continue;
    add(FindingClass::source_missing, signature->code, attempt.slot, attempt.key, *attempt.end,
        fmt::format("the compiler of {} said at {}: {}", view.who(attempt.slot), view.when(*attempt.end),
                    signature->line));
  }
  // A user's own command speaks through its outcome alone.
  for (const auto& [slot, worker] : view.workers) {
    if (worker.outcome != Outcome::failed || worker.error.empty()) continue;
    const auto signature = classify(worker.error);
    if (!signature) continue;
    const Nanoseconds stamp = worker.last_sign;
    if (signature->kind == "missing" && !view.plan.command.empty() && told.insert(slot).second) {
      add(FindingClass::missing, signature->code, slot, 0, stamp,
          fmt::format("{}: {}", view.who(slot), signature->line));
    }
    if (signature->kind == "source_missing" && !view.plan.command.empty() && source_told.insert(slot).second) {
      add(FindingClass::source_missing, signature->code, slot, 0, stamp,
          fmt::format("{}: {}", view.who(slot), signature->line));
    }
  }
}

}  // namespace jitrace
