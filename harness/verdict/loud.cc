#include <algorithm>

#include <fmt/format.h>

#include "verdict/oracles.h"
#include "verdict/signatures.h"

namespace jitrace {
namespace {

bool ended_badly(Outcome outcome) {
  return outcome == Outcome::failed || outcome == Outcome::crashed || outcome == Outcome::killed_by_other;
}

// A kernel that no attempt compiled: then an error is what the caller asked for.
bool kernel_does_not_compile(const TrialView& view, const WorkerFact& worker) {
  const auto own_says = classify(worker.error);
  if (own_says && own_says->kind == "compile_error") {
    return std::none_of(view.attempts.begin(), view.attempts.end(),
                        [](const AttemptFact& attempt) { return attempt.succeeded(); });
  }
  for (const AttemptFact& attempt : view.attempts) {
    if (attempt.slot != worker.slot || !attempt.end || attempt.status == 0) continue;
    const auto says = classify(attempt.output);
    if (!says || says->kind != "compile_error") continue;
    return std::none_of(view.attempts.begin(), view.attempts.end(), [&](const AttemptFact& other) {
      return other.key == attempt.key && other.succeeded();
    });
  }
  return false;
}

}  // namespace

// An error that another class explains (missing, torn, …) is counted there; loud is the rest.
void find_loud(const TrialView& view, TrialVerdict& verdict) {
  for (const auto& [slot, worker] : view.workers) {
    if (!ended_badly(worker.outcome) || view.explained(slot) || kernel_does_not_compile(view, worker)) continue;
    const bool told = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                  [&](const Finding& finding) { return finding.slot == slot; });
    if (told) continue;
    const auto signature = classify(worker.error);
    Finding finding;
    finding.kind = FindingClass::loud;
    finding.cause =
        signature ? fmt::format("{} ({})", signature->kind, signature->code) : std::string(name_of(worker.outcome));
    finding.round = worker.round;
    finding.slot = slot;
    finding.evidence = {fmt::format("{} ended as {}: {}", view.who(slot), name_of(worker.outcome), worker.error)};
    verdict.findings.push_back(std::move(finding));
  }
}

}  // namespace jitrace
