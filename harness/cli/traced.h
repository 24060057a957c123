#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/prepared.h"
#include "cli/run_dir.h"
#include "plan/trace_plan.h"
#include "trace/zygote.h"
#include "trial/lane_runner.h"

namespace jitrace {

// What `record`, `sweep` and the replay of a traced plan share: where they work, and what is gone when they end.
class TracedRun {
 public:
  // `name` is the run directory's, where none was given. `jobs` 0: one lane a CPU. Prints why not.
  static std::unique_ptr<TracedRun> begin(const TracedOptions& options, const std::string& name, int jobs, ExitCode* code);
  ~TracedRun();  // the caches under test go; the run directory stays unless discard() was called
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  // Command, directory, bounds and what lies beside the cache, as asked for.
  TracePlan base() const;
  // Besides what was asked for, and for the plans that are made from now on. Absolute, or "$TMPDIR/name". What is there by
  // now stays as trials leave it; what a trial makes is gone before the next.
  void watch(const std::vector<std::string>& beside);
  const std::vector<std::string>& beside() const { return beside_; }
  // Carries plans out; a failure of one is `done`'s to see.
  Result<void> run(const std::vector<TracePlan>& plans, const LaneRunner::Done& done);
  // One plan.
  Result<History> run_one(const TracePlan& plan);
  // The recording of all that belongs to the cache. What it makes outside is looked at; where another run makes some of it by
  // the same name others may meet it there, and there is one more recording in which that belongs to the cache.
  Result<History> first_recording();

  const RunDir& dir() const { return *dir_; }
  const std::string& cache() const { return places_.cache; }
  int lanes() const { return places_.lanes; }
  int signal() { return interrupt_->signal(); }
  int interrupt() const { return places_.interrupt; }
  Zygote::Wanted zygote_wanted(const std::vector<std::string>& modules) const;
  void keep(Zygote zygote) { zygote_.emplace(std::move(zygote)); }  // it ends with the run
  void discard();  // nothing worth keeping was found out

 private:
  explicit TracedRun(const TracedOptions& options) : options_(options) {}
  TracedOptions options_;
  std::vector<std::string> beside_;
  std::optional<Interrupt> interrupt_;
  std::optional<RunDir> dir_;
  std::vector<Lane> guards_;
  std::string root_;
  LaneRunner::Places places_;
  std::optional<Zygote> zygote_;
};

// Times that a program writes into its files have a second's grain at best; two runs in the same one would take such a file
// for an artifact, and every later run for torn.
void next_second();

// 130, 143, or the code of the error.
ExitCode stopped(TracedRun& run, const Error& error);

}  // namespace jitrace
