#include "verdict/summarise.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "strategy/preset.h"
#include "verdict/statistics.h"

namespace jitrace {
namespace {

std::string run_name(const Plan& plan) {
  if (!plan.command.empty()) return "command";
  std::set<std::string> names;
  for (const WorkerPlan& worker : plan.workers) {
    if (const Preset* preset = find_preset(worker.preset)) names.emplace(name_of(run_of(*preset, plan.toolchain)));
  }
  return join_text({names.begin(), names.end()}, ", ");
}

Cell describe_cell(const Plan& plan, const CellFacts& facts) {
  Cell cell;
  cell.id = plan.cell;
  cell.strategy = plan.subject;
  cell.run = facts.run.empty() ? run_name(plan) : facts.run;
  cell.toolchain = facts.toolchain.empty() ? plan.toolchain : facts.toolchain;
  cell.arch = plan.arch;
  cell.loader = plan.loader;
  cell.cache = facts.cache;
  cell.cache.clients = plan.clients;
  cell.cache.rename = plan.rename;
  cell.workers = static_cast<int>(plan.workers.size());
  if (!plan.faults.empty()) cell.fault = plan.faults.front();
  cell.mode = name_of(plan.mode);
  cell.cause = facts.cause.empty() ? plan.cause : facts.cause;
  cell.notes = facts.notes;
  return cell;
}

// Recovery times of the conclusive trials that had a kill.
void spread_recovery(Cell& cell) {
  struct Column {
    std::optional<Nanoseconds> Recovery::*member;
    Spread* spread;
  };
  for (const auto& [member, spread] : {Column{&Recovery::handoff, &cell.handoff},
                                       Column{&Recovery::first_served, &cell.first_served},
                                       Column{&Recovery::all_served, &cell.all_served}}) {
    std::vector<double> measured;
    int missing = 0;
    for (const TrialVerdict& trial : cell.judged) {
      if (!trial.inconclusive.empty() || !trial.recovery.applies) continue;
      const auto& value = trial.recovery.*member;
      if (value) {
        measured.push_back(to_ms(*value));
      } else if (member != &Recovery::handoff || trial.recovery.handoff_shows) {
        ++missing;
      }
    }
    *spread = spread_of(measured, missing);
  }
}

// Reasons differ in detail from trial to trial; what stands before the colon is what they share.
std::string shared_part(const std::string& reason) {
  return reason.starts_with("harness: ") ? reason : reason.substr(0, reason.find(": "));
}

}  // namespace

Cell summarise(const Plan& first_plan, const std::vector<TrialVerdict>& trials, const CellFacts& facts) {
  Cell cell = describe_cell(first_plan, facts);
  cell.judged = trials;
  cell.trials = static_cast<int>(trials.size());
  std::vector<double> skews;
  std::set<std::string> notes(cell.notes.begin(), cell.notes.end());
  const TrialVerdict* telling = nullptr;
  for (const TrialVerdict& trial : trials) {
    if (!trial.inconclusive.empty()) {
      ++cell.inconclusive;
      ++cell.inconclusive_reasons[shared_part(trial.inconclusive)];
    } else if (trial.recovered) {
      ++cell.recovered;
    }
    for (const auto& [name, count] : trial.outcomes) cell.outcomes[name] += count;
    std::set<FindingClass> classes;
    for (const Finding& finding : trial.findings) {
      if (!classes.insert(finding.kind).second) continue;
      if (++cell.findings[std::string(name_of(finding.kind))] == 1) cell.examples.push_back(finding);
    }
    if (telling == nullptr && !trial.findings.empty()) telling = &trial;
    cell.builds += trial.builds;
    for (const auto& [key, count] : trial.builds_per_key) {
      cell.builds_per_key[key] = std::max(cell.builds_per_key[key], count);
    }
    cell.peak_builds = std::max(cell.peak_builds, trial.peak_builds);
    cell.faults_planned += trial.faults_planned;
    cell.faults_fired += trial.faults_fired;
    cell.warnings += trial.warnings;
    skews.push_back(trial.start_skew_ms);
    for (const std::string& note : trial.notes) {
      if (notes.insert(note).second && cell.notes.size() < 12) cell.notes.push_back(note);
    }
  }
  if (telling == nullptr) {
    const auto open =
        std::find_if(trials.begin(), trials.end(), [](const TrialVerdict& t) { return !t.inconclusive.empty(); });
    if (open != trials.end()) telling = &*open;
  }
  if (telling != nullptr && facts.replay.contains(telling->trial)) cell.replay = facts.replay.at(telling->trial);
  cell.start_skew_ms = percentile(skews, 0.5);
  std::stable_sort(cell.examples.begin(), cell.examples.end(),
                   [](const Finding& left, const Finding& right) { return left.kind < right.kind; });
  spread_recovery(cell);
  if (first_plan.mode == Mode::free) {
    const int n = cell.trials - cell.inconclusive;
    int any = 0;
    std::map<std::string, int> seen;  // in conclusive trials: a rate is k of those
    for (const TrialVerdict& trial : trials) {
      if (!trial.inconclusive.empty()) continue;
      std::set<std::string> classes;
      for (const Finding& finding : trial.findings) classes.emplace(name_of(finding.kind));
      any += classes.empty() ? 0 : 1;
      for (const std::string& name : classes) ++seen[name];
    }
    cell.rates["any"] = rate_of(any, n);
    for (const auto& [name, k] : seen) cell.rates[name] = rate_of(k, n);
  }
  return cell;
}

Cell skipped_cell(const Plan& plan, const std::string& reason, const CellFacts& facts) {
  Cell cell = describe_cell(plan, facts);
  cell.skipped = reason;
  return cell;
}

Cell unreached_cell(const Plan& plan, const CellFacts& facts) {
  Cell cell = skipped_cell(plan, "no trial was run before the run ended", facts);
  cell.not_reached = true;
  return cell;
}

Grade grade_of(const std::vector<Cell>& cells, Skips skips) {
  std::optional<Grade> worst;
  for (const Cell& cell : cells) {
    if (cell.skipped && !cell.not_reached && skips == Skips::waived) continue;
    worst = std::max(worst.value_or(Grade::pass), cell.skipped ? Grade::inconclusive : cell.verdict);
  }
  return worst.value_or(Grade::inconclusive);
}

}  // namespace jitrace
