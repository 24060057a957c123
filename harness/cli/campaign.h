#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cli/options.h"
#include "cli/run_dir.h"
#include "plan/cells.h"
#include "reports/progress.h"
#include "search/sample.h"
#include "trial/lane.h"
#include "trial/setup.h"
#include "trial/trial.h"
#include "verdict/cell.h"
#include "verdict/summarise.h"

namespace jitrace {

// The cells of a run and what their trials have said so far. Trials are taken by turns over the cells, so that
// strategies are compared on interleaved trials; each trial's history is on disk before the next one starts.
class Campaign {
 public:
  struct Settings {
    Keep keep = Keep::on_findings;
    int jobs = 1;
    Nanoseconds time_budget = 0;  // 0: none
  };

  Campaign(const Scenario& scenario, std::vector<CellPlan> cells, Setup& setup, const RunDir& run_dir, Settings settings,
           std::vector<Toolchain> toolchains, CacheInfo cache);

  // Makes shadow toolkits and reference compiles. A cell whose kernel does not compile is skipped with the compiler's
  // words. An error: the run directory cannot be written.
  Result<void> prepare();
  // Runs until every cell has its trials, the budget is spent or `interrupt` becomes readable. `trial_done` is called
  // under a lock after each trial.
  Result<void> run(std::vector<Lane>& lanes, const Fd& interrupt, Progress& progress);
  // Takes a trial's verdict that was reached elsewhere (a history read back).
  // `plan`: where its plan would lie, if it was kept.
  void add(const std::string& cell, const std::string& plan, TrialVerdict verdict);

  // Cell → why it does not run here, as far as it is known.
  std::map<std::string, std::string> skipped() const;
  void skip(const std::string& cell, const std::string& reason);

  std::vector<Cell> cells() const;
  bool interrupted() const { return interrupted_; }
  bool out_of_time() const { return out_of_time_; }

 private:
  struct State {
    CellPlan plan;
    std::vector<TrialVerdict> verdicts;
    std::map<int, std::string> replay;
    int kept_findings = 0, kept_open = 0;  // plans, of trials that found something and of inconclusive ones
    bool cache_kept = false;
    std::string skipped;
  };

  std::optional<Pick> next_pick();
  Result<void> run_lane(Lane& lane, const Fd& interrupt, Progress& progress);
  Result<void> keep_results(State& state, const Plan& plan, const TrialResult& result, const TrialVerdict& verdict);
  const Toolchain* toolchain(const std::string& name) const;
  Cell summary(const State& state) const;
  void show(Progress& progress, const State& state, int trial) const;

  const Scenario& scenario_;
  Setup& setup_;
  const RunDir& run_dir_;
  Settings settings_;
  std::vector<Toolchain> toolchains_;
  CacheInfo cache_;
  std::vector<State> cells_;
  Nanoseconds started_ = 0;
  std::mutex mutex_;  // guards everything below and cells_ while lanes run
  std::vector<Pick> picks_;
  std::size_t next_ = 0;
  bool interrupted_ = false;
  bool out_of_time_ = false;
  std::optional<Error> failed_;
};

}  // namespace jitrace
