#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

// Builds that the plan itself asked for: what it wiped or damaged has to be built again.
int rebuilds_due(const TrialView& view) {
  int due = 0;
  for (const FaultFact& fault : view.faults) {
    const FaultPlan* plan_of = view.planned(fault);
    if (plan_of != nullptr && !kills(plan_of->kind) && plan_of->kind != FaultKind::stop) ++due;
  }
  for (const WorkerPlan& worker : view.plan.workers) {
    if (worker.action != "get") due += view.plan.rounds;
  }
  return due;
}

// Whether somebody has to do this builder's work again through the plan's doing: it was killed, it or its tool, or
// stopped for ever, or for so long that a waiter came to its bound and went on without it. Who is stopped for a while and
// goes on holds what it held; then whoever builds beside it was let in.
bool replaced_by_plan(const TrialView& view, Slot builder) {
  const WorkerFact* worker = view.worker(builder);
  if (worker != nullptr && !worker->survivor()) return true;
  const bool given_up = std::any_of(view.waits.begin(), view.waits.end(),
                                    [](const WaitFact& wait) { return wait.end && wait.how == WaitEnd::bound; });
  return std::any_of(view.faults.begin(), view.faults.end(), [&](const FaultFact& fault) {
    const FaultPlan* plan_of = view.planned(fault);
    if (plan_of == nullptr || view.owner_of(fault) != builder) return false;
    if (plan_of->kind == FaultKind::stop) return plan_of->until == Point::none || given_up;
    return kills(plan_of->kind);
  });
}

// Was somebody killed who made this? A daemon is no worker, so only the attempt tells.
bool struck(const TrialView& view, std::uint64_t attempt) {
  return std::any_of(view.history.events.begin(), view.history.events.end(), [&](const Event& event) {
    if (event.kind != EventKind::fault_fired || event.attempt == 0 || event.attempt != attempt) return false;
    const auto index = static_cast<std::size_t>(event.a);
    return index < view.plan.faults.size() && kills(view.plan.faults[index].kind);
  });
}

}  // namespace

// Counts per preset and key: the promise is one of the preset's own workers among themselves. A build of somebody whom
// the plan hit does not count, the next one has to do it again.
void find_herds(const TrialView& view, TrialVerdict& verdict) {
  std::map<std::pair<const Preset*, std::uint16_t>, std::vector<const AttemptFact*>> builds;
  const Preset* only = nullptr;  // of a daemon's builds, which no worker did
  for (const auto& [slot, worker] : view.workers) only = worker.preset;
  for (const AttemptFact& attempt : view.attempts) {
    if (!attempt.succeeded() || replaced_by_plan(view, attempt.slot) || struck(view, attempt.id)) continue;
    const WorkerFact* builder = view.worker(attempt.slot);
    builds[{builder != nullptr ? builder->preset : only, attempt.key}].push_back(&attempt);
  }
  const int due = rebuilds_due(view);
  for (const auto& [group, attempts] : builds) {
    const auto& [preset, key] = group;
    if (preset == nullptr || preset->builds_per_key == 0) continue;
    const int promised = preset->builds_per_key + due;
    if (static_cast<int>(attempts.size()) <= promised) continue;
    // What an orphan overwrote is newer than the build tool remembers, so it is built again: the orphan's doing.
    const bool overwritten = std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& found) {
      return found.kind == FindingClass::orphan_write && found.key == group.second;
    });
    if (overwritten) {
      verdict.notes.push_back(fmt::format("{} was built again after an orphan had overwritten it", view.kernel(key)));
      continue;
    }
    Finding finding;
    finding.kind = FindingClass::herd;
    finding.cause = fmt::format("{} builds instead of {}", attempts.size(), promised);
    finding.round = view.round_at(attempts.back()->begin);
    finding.slot = attempts.back()->slot;
    finding.key = key;
    finding.evidence.push_back(
        fmt::format("{} was built {} times, {} promised", view.kernel(key), attempts.size(), promised));
    for (const AttemptFact* attempt : attempts) {
      if (finding.evidence.size() > 8) break;
      finding.evidence.push_back(fmt::format("attempt {:016x} of {} at {}", attempt->id, view.who(attempt->slot),
                                             view.when(attempt->begin)));
    }
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace jitrace
