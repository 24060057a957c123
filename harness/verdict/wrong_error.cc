#include <fmt/format.h>

#include "process/wait_status.h"
#include "verdict/oracles.h"
#include "verdict/signatures.h"

namespace jitrace {
namespace {

// The last attempt for this key, by anybody, that had failed or died before the worker gave up, with no success after
// it.
const AttemptFact* real_cause(const TrialView& view, const WorkerFact& worker, std::uint16_t key) {
  const AttemptFact* cause = nullptr;
  for (const AttemptFact& attempt : view.attempts) {
    if (attempt.key != key || attempt.begin > worker.last_sign) continue;
    if (attempt.succeeded()) {
      cause = nullptr;
    } else if (attempt.end && attempt.status != 0 && *attempt.end <= worker.last_sign) {
      cause = &attempt;
    }
  }
  return cause;
}

// The key that the worker failed at; it may have gone on with others.
std::uint16_t failed_key(const TrialView& view, Slot slot) {
  std::uint16_t last = 0;
  for (const Event& event : view.history.events) {
    if (event.slot != slot) continue;
    if (event.kind == EventKind::get_end && static_cast<Outcome>(event.a) == Outcome::failed) return event.key;
    if (event.kind == EventKind::get_begin) last = event.key;
  }
  for (const LoadFact& load : view.loads) {
    if (load.slot == slot && load.last_of_get && kind_of(view, load) != LoadKind::fine) return load.key;
  }
  return last;
}

}  // namespace

// A worker says "cannot open shared object file" or an assertion, where the truth is that a build failed.
void find_wrong_errors(const TrialView& view, TrialVerdict& verdict) {
  for (const auto& [slot, worker] : view.workers) {
    if (worker.outcome != Outcome::failed) continue;
    const auto says = classify(worker.error);
    if (!says || (says->kind != "missing" && says->kind != "torn" && says->kind != "hidden")) continue;
    const std::uint16_t key = failed_key(view, slot);
    const AttemptFact* cause = real_cause(view, worker, key);
    if (cause == nullptr) {
      if (says->kind != "hidden") continue;
      verdict.findings.push_back({FindingClass::wrong_error, "an assertion for an answer", 0, worker.round, slot, key,
                                  {fmt::format("{} only said: {}", view.who(slot), worker.error)}});
      continue;
    }
    const auto truth = classify(cause->output);
    const std::string told = truth ? truth->line
                                   : fmt::format("the compiler ended with {}",
                                                 WaitStatus::from_raw(static_cast<int>(cause->status)).describe());
    if (truth && worker.error.find(truth->line) != std::string::npos) continue;
    if (truth && truth->kind == says->kind && cause->slot == slot) continue;
    verdict.findings.push_back(
        {FindingClass::wrong_error, truth ? truth->kind : "a failed build", 0, worker.round, slot, key,
         {fmt::format("{} said: {}", view.who(slot), says->line),
          fmt::format("the cause: the build of {} for {} had failed at {}: {}", view.who(cause->slot), view.kernel(key),
                      view.when(*cause->end), told)}});
  }
}

}  // namespace jitrace
