#include <algorithm>
#include <map>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

int first_judged_round(const TrialView& view) {
  return view.faults.empty() ? 1 : view.round_at(view.faults.front().stamp);
}

}  // namespace

bool served(const TrialView& view, const WorkerFact& worker) {
  if (worker.outcome != Outcome::built && worker.outcome != Outcome::served) return false;
  std::map<std::uint16_t, const LoadFact*> last;
  for (const LoadFact& load : view.loads) {
    if (load.slot == worker.slot) last[load.key] = &load;
  }
  return std::all_of(last.begin(), last.end(),
                     [&](const auto& entry) { return kind_of(view, *entry.second) == LoadKind::fine; });
}

void count_outcomes(const TrialView& view, TrialVerdict& verdict) {
  const int from = first_judged_round(view);
  // All who survived, and somebody did: where the only worker was killed, nothing has recovered yet.
  bool any = false;
  verdict.recovered = true;
  for (const auto& [slot, worker] : view.workers) {
    ++verdict.outcomes[std::string(name_of(worker.outcome))];
    if (worker.round < from || !worker.survivor() || view.explained(slot)) continue;
    any = true;
    if (!served(view, worker)) verdict.recovered = false;
  }
  verdict.recovered = verdict.recovered && any;
  std::optional<Nanoseconds> first, last;
  for (const Event& event : view.history.events) {
    if (event.kind == EventKind::warned) ++verdict.warnings;
    const WorkerFact* worker = view.worker(event.slot);
    if (event.kind != EventKind::released || worker == nullptr || worker->round != 1) continue;
    first = std::min(first.value_or(event.stamp), event.stamp);
    last = std::max(last.value_or(event.stamp), event.stamp);
  }
  if (first) verdict.start_skew_ms = to_ms(*last - *first);
}

void count_builds(const TrialView& view, TrialVerdict& verdict) {
  std::vector<std::pair<Nanoseconds, int>> edges;
  for (const AttemptFact& attempt : view.attempts) {
    if (attempt.succeeded()) {
      ++verdict.builds;
      ++verdict.builds_per_key[view.kernel(attempt.key)];
    }
    const bool ran = attempt.compiled && (!attempt.end || attempt.status != -1);
    if (!ran) continue;
    const Nanoseconds end = attempt.end.value_or(view.gone(attempt.slot).value_or(view.end));
    edges.emplace_back(attempt.begin, 1);
    edges.emplace_back(std::max(end, attempt.begin), -1);
  }
  // At one stamp ends go first: a hand-over is no overlap.
  std::sort(edges.begin(), edges.end());
  int now_running = 0;
  for (const auto& [stamp, step] : edges) {
    now_running += step;
    verdict.peak_builds = std::max(verdict.peak_builds, now_running);
  }
}

}  // namespace jitrace
