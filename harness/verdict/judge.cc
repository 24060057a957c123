#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

// Why this history does not say what the plan asked; the first reason is the cause of the others.
std::string why_inconclusive(const TrialView& view, const TrialVerdict& verdict) {
  const History& history = view.history;
  if (!history.failure.empty()) return "harness: " + history.failure;
  for (const Event& event : history.events) {
    if (event.kind == EventKind::fault_missed) {
      const auto index = static_cast<std::size_t>(event.a);
      const std::string what = index < view.plan.faults.size() ? describe(view.plan.faults[index]) : "a fault";
      return fmt::format("{} did not fire{}{}", what, event.text.empty() ? "" : ": ", event.text);
    }
  }
  if (view.watchdog) return "stalled: the watchdog ended it, and no hang was proved";
  if (verdict.faults_fired < verdict.faults_planned) return "a planned fault did not fire";
  if (view.workers.empty()) return "no worker was started";
  const bool settled = std::any_of(history.events.begin(), history.events.end(),
                                   [](const Event& event) { return event.kind == EventKind::settled; });
  if (!settled) return "the trial was not settled";
  for (const auto& [slot, worker] : view.workers) {
    if (worker.how == Ended::not_seen) return fmt::format("the end of {} was not seen", view.who(slot));
    if (worker.outcome == Outcome::stalled) return fmt::format("{} stalled, and no hang was proved", view.who(slot));
    if (worker.outcome == Outcome::could_not_start)
      return fmt::format("{} could not start: {}", view.who(slot), worker.error);
  }
  // A process that dies by a signal may leave the one record that it was writing.
  std::uint64_t cut = 0;
  for (const Event& event : history.events) {
    if (event.kind == EventKind::process_ended && (event.a & 0x7f) != 0) ++cut;
  }
  if (history.torn_records > cut) return fmt::format("{} records of the log are torn", history.torn_records);
  return "";
}

void count_faults(const TrialView& view, TrialVerdict& verdict) {
  std::set<std::size_t> fired;
  for (const FaultFact& fault : view.faults) fired.insert(fault.index);
  verdict.faults_planned = static_cast<int>(view.plan.faults.size());
  verdict.faults_fired = static_cast<int>(fired.size());
}

// Paths read relative to the cache: it is gone when the report is read, and another one in every trial.
void shorten(std::string& text, const std::string& cache) {
  if (cache.empty()) return;
  const std::string prefix = cache + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
}

void note_limits(const TrialView& view, TrialVerdict& verdict) {
  const bool simulated =
      std::any_of(view.loads.begin(), view.loads.end(), [](const LoadFact& load) { return load.simulated(); });
  if (simulated && view.plan.loader == "elf") {
    verdict.notes.push_back("no GPU took part: what the driver would say of a file comes from the decision table");
  } else if (simulated) {
    verdict.notes.push_back("no compiler and no driver took part: artifacts and loads are the fake toolchain's");
  }
  if (view.history.torn_records > 0) {
    verdict.notes.push_back(fmt::format("{} records were cut by a kill", view.history.torn_records));
  }
}

}  // namespace

TrialVerdict judge(const Plan& plan, const History& history) {
  const TrialView view(plan, history);
  TrialVerdict verdict;
  verdict.trial = plan.trial;
  count_faults(view, verdict);
  count_outcomes(view, verdict);
  count_builds(view, verdict);
  verdict.recovery = measure_recovery(view);

  find_hangs(view, verdict);
  find_two_owners(view, verdict);
  find_orphan_writes(view, verdict);
  find_missing(view, verdict);
  find_torn(view, verdict);
  find_foreign(view, verdict);
  find_loud(view, verdict);
  find_wrong_errors(view, verdict);
  find_herds(view, verdict);
  find_serialised(view, verdict);
  find_starved(view, verdict);
  find_leaks(view, verdict);

  for (Finding& finding : verdict.findings) {
    finding.trial = plan.trial;
    shorten(finding.cause, history.cache);
    for (std::string& line : finding.evidence) shorten(line, history.cache);
  }
  for (std::string& note : verdict.notes) shorten(note, history.cache);
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(),
                   [](const Finding& left, const Finding& right) { return left.kind < right.kind; });
  verdict.inconclusive = why_inconclusive(view, verdict);
  note_limits(view, verdict);
  std::sort(verdict.notes.begin(), verdict.notes.end());
  verdict.notes.erase(std::unique(verdict.notes.begin(), verdict.notes.end()), verdict.notes.end());
  return verdict;
}

}  // namespace jitrace
