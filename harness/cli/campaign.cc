#include "cli/campaign.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/prepared.h"
#include "process/launch.h"

namespace jitrace {

Campaign::Campaign(const Scenario& scenario, std::vector<CellPlan> cells, Setup& setup, const RunDir& run_dir,
                   Settings settings, std::vector<Toolchain> toolchains, CacheInfo cache)
    : scenario_(scenario), setup_(setup), run_dir_(run_dir), settings_(settings), toolchains_(std::move(toolchains)),
      cache_(std::move(cache)), picks_(Sample(cells).picks()) {
  for (CellPlan& cell : cells) {
    State& state = cells_.emplace_back();
    state.skipped = cell.not_applicable.empty() ? cell.skipped : cell.not_applicable;
    state.plan = std::move(cell);
  }
}

const Toolchain* Campaign::toolchain(const std::string& name) const {
  for (const Toolchain& candidate : toolchains_) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

Result<void> Campaign::prepare() {
  for (State& state : cells_) {
    if (!state.skipped.empty()) continue;
    if (const auto& command = state.plan.subject.command; !command.empty()) {
      // Known before anything runs, unless it is one of the cache's own.
      Command wanted;
      wanted.argv = command;
      if (command.front().find('{') != std::string::npos) continue;
      if (const auto program = find_program(wanted); !program) state.skipped = program.error().message();
      continue;
    }
    const Toolchain* found = toolchain(state.plan.toolchain);
    if (found == nullptr) return plain_error("find toolchain", state.plan.toolchain);
    if (const auto ready = make_ready(setup_, plan_of(scenario_, state.plan, 1), *found); !ready) {
      if (ready.error().code == ECANCELED) {
        interrupted_ = true;
        return {};
      }
      if (code_for(ready.error()) == ExitCode::unusable) return ready.error();
      state.skipped = ready.error().message();
    }
  }
  return {};
}

std::optional<Pick> Campaign::next_pick() {
  const std::lock_guard lock(mutex_);
  if (interrupted_ || failed_) return std::nullopt;
  if (settings_.time_budget != 0 && now() - started_ >= settings_.time_budget) {
    out_of_time_ = true;
    return std::nullopt;
  }
  // Cells that turned out to be impossible only when they were prepared still have their picks.
  while (next_ < picks_.size() && !cells_[picks_[next_].cell].skipped.empty()) ++next_;
  if (next_ == picks_.size()) return std::nullopt;
  return picks_[next_++];
}

Result<void> Campaign::keep_results(State& state, const Plan& plan, const TrialResult& result, const TrialVerdict& verdict) {
  TRY(run_dir_.save_history(plan.cell, plan.trial, result.history));
  const bool telling = !verdict.findings.empty() || !verdict.inconclusive.empty();
  int& kept = verdict.findings.empty() ? state.kept_open : state.kept_findings;
  if (telling && kept < 3) {
    ++kept;
    const std::string showed =
        verdict.findings.empty() ? "inconclusive: " + verdict.inconclusive : std::string(name_of(verdict.findings.front().kind));
    TRY(run_dir_.save_plan(plan.cell, plan.trial, plan, showed));
    state.replay[plan.trial] = shell_line({"jitrace", "replay", run_dir_.plan_path(plan.cell, plan.trial)});
  }
  if (settings_.keep == Keep::always || (!verdict.findings.empty() && !state.cache_kept)) {
    TRY(run_dir_.save_cache(plan.cell, plan.trial, result.cache_dir));
    state.cache_kept = true;
  }
  return remove_trial(result);
}

void Campaign::show(Progress& progress, const State& state, int trial) const {
  Step step;
  step.cell = state.plan.id;
  step.number = trial;
  step.trials = state.plan.trials;
  step.what = state.plan.fault.steps.empty() ? fmt::format("{} workers, no fault", state.plan.workers)
                                             : describe(plan_of(scenario_, state.plan, trial).faults.front());
  for (const State& other : cells_) {
    if (!other.skipped.empty()) continue;
    step.done += static_cast<int>(other.verdicts.size());
    step.all += other.plan.trials;
  }
  step.elapsed = now() - started_;
  progress.trial(step);
}

Result<void> Campaign::run_lane(Lane& lane, const Fd& interrupt, Progress& progress) {
  while (const auto pick = next_pick()) {
    State& state = cells_[pick->cell];
    const Plan plan = plan_of(scenario_, state.plan, pick->trial);
    {
      const std::lock_guard lock(mutex_);
      show(progress, state, pick->trial);
    }
    TRY_ASSIGN(const TrialResult result, run_trial(plan, setup_, lane, interrupt));
    if (result.end == TrialResult::End::interrupted) {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
      return remove_trial(result);
    }
    TrialVerdict verdict = judge(plan, result.history);
    verdict.trial = pick->trial;
    const std::lock_guard lock(mutex_);
    TRY(keep_results(state, plan, result, verdict));
    state.verdicts.push_back(std::move(verdict));
    if (static_cast<int>(state.verdicts.size()) == state.plan.trials) progress.cell_ends(summary(state));
  }
  return {};
}

Result<void> Campaign::run(std::vector<Lane>& lanes, const Fd& interrupt, Progress& progress) {
  // Before the lanes work: they only read the setup.
  for (const State& state : cells_) {
    if (interrupted_ || !state.skipped.empty() || state.plan.subject.command.empty()) continue;
    TRY(measure_typical(plan_of(scenario_, state.plan, 1), setup_, lanes.front(), interrupt));
  }
  started_ = now();
  const auto work = [&](Lane& lane) {
    if (const auto done = run_lane(lane, interrupt, progress); !done) {
      const std::lock_guard lock(mutex_);
      if (!failed_) failed_ = done.error();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < lanes.size(); ++i) others.emplace_back(work, std::ref(lanes[i]));
  work(lanes.front());
  for (std::thread& other : others) other.join();
  if (failed_) return *failed_;
  return {};
}

void Campaign::add(const std::string& cell, const std::string& plan, TrialVerdict verdict) {
  for (State& state : cells_) {
    if (state.plan.id != cell) continue;
    if (exists(plan)) state.replay[verdict.trial] = shell_line({"jitrace", "replay", plan});
    state.verdicts.push_back(std::move(verdict));
    return;
  }
}

Cell Campaign::summary(const State& state) const {
  CellFacts facts;
  facts.cache = cache_;
  facts.replay = state.replay;
  if (const Toolchain* found = toolchain(state.plan.toolchain)) {
    facts.toolchain = found->version.empty() ? found->name : found->name + " " + found->version;
  }
  const Plan plan = plan_of(scenario_, state.plan, 1);
  std::vector<TrialVerdict> verdicts = state.verdicts;
  std::sort(verdicts.begin(), verdicts.end(), [](const auto& a, const auto& b) { return a.trial < b.trial; });
  Cell cell = !state.skipped.empty() ? skipped_cell(plan, state.skipped, facts)
              : verdicts.empty()     ? unreached_cell(plan, facts)
                                     : summarise(plan, verdicts, facts);
  evaluate(cell, state.plan.expectation);
  return cell;
}

std::map<std::string, std::string> Campaign::skipped() const {
  std::map<std::string, std::string> reasons;
  for (const State& state : cells_) {
    if (state.plan.not_applicable.empty() && !state.skipped.empty()) reasons[state.plan.id] = state.skipped;
  }
  return reasons;
}

void Campaign::skip(const std::string& cell, const std::string& reason) {
  for (State& state : cells_) {
    if (state.plan.id == cell) state.skipped = reason;
  }
}

std::vector<Cell> Campaign::cells() const {
  std::vector<Cell> cells;
  for (const State& state : cells_) {
    if (state.plan.not_applicable.empty()) cells.push_back(summary(state));
  }
  return cells;
}

}  // namespace jitrace
