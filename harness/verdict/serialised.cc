#include <algorithm>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

// How long a build before a daemon must last to tell anything: a shorter one may be over before the daemon, on a busy
// machine, has so much as read the request for the other key.
constexpr Nanoseconds telling = milliseconds(100);

bool promises_parallel_keys(const Preset* preset) {
  if (preset == nullptr || preset->locks.empty()) return false;
  return std::none_of(preset->locks.begin(), preset->locks.end(),
                      [](const LockChoice& lock) { return lock.file == LockFile::beside_root; });
}

void add(const TrialView& view, TrialVerdict& verdict, const WaitFact& wait, std::uint16_t other, std::string line) {
  Finding finding;
  finding.kind = FindingClass::serialised;
  finding.cause = fmt::format("{} waited for {}", view.kernel(wait.key), view.kernel(other));
  finding.round = view.round_at(wait.begin);
  finding.slot = wait.slot;
  finding.key = wait.key;
  finding.evidence = {std::move(line), fmt::format("peak of {} builds at once", verdict.peak_builds)};
  verdict.findings.push_back(std::move(finding));
}

}  // namespace

// Different keys compile in parallel under per-key locks. Counting builds at once would blame a fast compiler; what is
// looked for is a worker that waited on a lock of one key while its owner had it for another, or, before a daemon, one
// whose whole wait saw the build of another key end and none of its own begin.
void find_serialised(const TrialView& view, TrialVerdict& verdict) {
  for (const WaitFact& wait : view.waits) {
    const WorkerFact* waiter = view.worker(wait.slot);
    if (waiter == nullptr || !promises_parallel_keys(waiter->preset)) continue;
    const Nanoseconds wait_end = wait.end.value_or(view.end);
    if (wait.condition == ConditionKind::absent || wait.condition == ConditionKind::flock) {
      for (const HoldFact& hold : view.holds) {
        if (hold.path != wait.path || hold.key == wait.key || hold.slot == wait.slot) continue;
        // It may have been taken after the wait began: all who come at once begin to wait before one of them has it.
        if (hold.begin >= wait_end || hold.end <= wait.begin) continue;
        return add(view, verdict, wait, hold.key,
                   fmt::format("{} waited for {} from {}, which {} held to build {}", view.who(wait.slot), wait.path,
                               view.when(wait.begin), view.who(hold.slot), view.kernel(hold.key)));
      }
    }
    if (wait.condition != ConditionKind::reply || verdict.peak_builds != 1) continue;
    const AttemptFact* others = nullptr;
    bool own = false;
    for (const AttemptFact& attempt : view.attempts) {
      const Nanoseconds attempt_end = attempt.end.value_or(view.end);
      if (attempt.key == wait.key) own = own || (attempt.begin < wait_end && others == nullptr);
      const bool whole = attempt.begin > wait.begin && attempt_end < wait_end && attempt_end - attempt.begin >= telling;
      if (attempt.key != wait.key && whole && others == nullptr && !own) {
        others = &attempt;
      }
    }
    if (others == nullptr) continue;
    return add(view, verdict, wait, others->key,
               fmt::format("{} waited from {} to {}; the whole build of {} came first", view.who(wait.slot),
                           view.when(wait.begin), view.when(wait_end), view.kernel(others->key)));
  }
}

}  // namespace jitrace
