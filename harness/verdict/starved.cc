#include <algorithm>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

// A poll may come one interval late and the machine may be busy; half the bound and a second more is no longer that.
Nanoseconds latest(Nanoseconds bound) { return bound + bound / 2 + seconds(1); }

bool somebody_lay_in_the_way(const TrialView& view) {
  return std::any_of(view.faults.begin(), view.faults.end(), [&](const FaultFact& fault) {
    const FaultPlan* plan_of = view.planned(fault);
    return plan_of != nullptr && plan_of->kind == FaultKind::stop;
  });
}

}  // namespace

// Progress later than the bound: a wait that outlasts it, or one that the bound ends in a failure although nobody was
// stopped, so that the others were healthy.
void find_starved(const TrialView& view, TrialVerdict& verdict) {
  for (const WaitFact& wait : view.waits) {
    const WorkerFact* worker = view.worker(wait.slot);
    if (worker == nullptr || wait.bound <= 0 || !wait.end || wait.condition == ConditionKind::gate) continue;
    const Nanoseconds lasted = *wait.end - wait.begin;
    const bool late = lasted > latest(wait.bound);
    const bool gave_up =
        wait.how == WaitEnd::bound && worker->outcome == Outcome::failed && !somebody_lay_in_the_way(view);
    if (!late && !gave_up) continue;
    Finding finding;
    finding.kind = FindingClass::starved;
    finding.cause = late ? "waited beyond the bound" : "gave up while others were healthy";
    finding.round = worker->round;
    finding.slot = wait.slot;
    finding.key = wait.key;
    finding.evidence = {fmt::format("{} waited {:.1f} ms for {} ({}), bound {:.1f} ms, and ended as {}",
                                    view.who(wait.slot), to_ms(lasted), wait.path, name_of(wait.condition),
                                    to_ms(wait.bound), name_of(worker->outcome))};
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace jitrace
