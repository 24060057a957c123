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

}  // namespace

// Counts per preset and key: the promise is one of the preset's own workers among themselves. A build of somebody whom
// the plan hit does not count, the next one has to do it again.
void find_herds(const TrialView& view, TrialVerdict& verdict) {
  std::map<std::pair<const Preset*, std::uint16_t>, std::vector<const AttemptFact*>> builds;
  const Preset* only = nullptr;  // of a daemon's builds, which no worker did
  for (const auto& [slot, worker] : view.workers) only = worker.preset;
  for (const AttemptFact& attempt : view.attempts) {
    if (!attempt.succeeded() || view.hit_by_plan(attempt.slot)) continue;
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
