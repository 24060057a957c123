#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "event/history.h"
#include "plan/plan.h"
#include "trial/trial.h"

namespace jitrace {

// Where a run writes, and how what it wrote is found again.
//
//   run               what was asked: overrides, toolchains, machine, cells (versioned text)
//   scenario.toml     the scenario as it was
//   cells/<cell>/trial-<n>.history   one a trial
//   cells/<cell>/trial-<n>.plan      of trials that found something: the file that `jitrace replay` takes
//   cells/<cell>/trial-<n>.cache/    the cache as such a trial left it, the first of each cell (--keep: all)
//   report.json, junit.xml, summary.md
class RunDir {
 public:
  // Creates it. An existing one that is not empty is refused: a run never writes over another, nor beside another that
  // starts at the same time.
  static Result<RunDir> create(const std::string& path);
  // jitrace-runs/<name>-<n>, the first that is free.
  static Result<RunDir> create_fresh(const std::string& scenario_name);
  explicit RunDir(std::string path) : path_(std::move(path)) {}

  // Takes back what create() made, as long as nothing was written: for a run that cannot even begin.
  void discard() const;

  const std::string& path() const { return path_; }
  std::string cell_dir(const std::string& cell) const;
  std::string plan_path(const std::string& cell, int trial) const;
  Result<void> save_history(const std::string& cell, int trial, const History& history) const;
  Result<void> save_plan(const std::string& cell, int trial, const Plan& plan, const std::string& finding) const;
  Result<void> save_cache(const std::string& cell, int trial, const std::string& cache_dir) const;
  // Every history of the run, sorted by cell and trial.
  Result<std::vector<std::string>> histories() const;

 private:
  std::string path_;
  std::vector<std::string> made_;  // by create(), innermost first
};

// A path for the reader of a terminal: from the working directory if it lies below that, else as it is.
std::string shown_path(const std::string& path);

}  // namespace jitrace
