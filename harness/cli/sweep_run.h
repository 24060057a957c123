#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/sweep.h"
#include "cli/traced.h"
#include "plan/sweep_matrix.h"
#include "search/fault_points.h"
#include "search/fresh_cells.h"
#include "search/kill_classes.h"
#include "verdict/sweep_cell.h"

namespace jitrace {

// One sweep of one command: recordings, kills, faults at single calls, and the matrix that they make.
class Sweep {
 public:
  Sweep(const SweepOptions& options, const SweptSubject& subject, TracedRun& run)
      : options_(options), subject_(subject), run_(run), began_(now()) {}

  // Nothing: carry on to report(). Else why there is no matrix.
  std::optional<ExitCode> carry_out();
  ExitCode report();

 private:
  // One plan, and where its cell belongs: a row and a column, or a fault.
  struct Job {
    std::size_t at = 0;                 // of the row, or of the fault
    std::optional<SweepColumn> column;  // nothing: a fault
    TracePlan plan;
  };
  std::optional<ExitCode> record();
  Result<void> kill_trees();
  Result<void> kill_where_locks_were_taken();
  Result<void> confirm();
  Result<void> kill_builders();
  Result<void> kill_beside_waiters();
  Result<void> fault_calls();
  Result<void> confirm_stand_ins();
  Job tree_kill(std::size_t row) const;
  void add_faults(std::vector<Job>& jobs, const std::vector<FaultPoint>& points, Reply reply);
  Result<void> run_jobs(const char* what, std::vector<Job> jobs, const std::function<void(const Job&, SweepCell)>& take);
  Result<void> run_jobs(const char* what, std::vector<Job> jobs);  // each cell where it belongs
  SweepCell& cell_of(const Job& job);
  void save_replay(const Job& job, SweepCell& cell, const History& history);
  TracePlan base() const;
  Writes writes() const { return options_.every_write == EveryWrite::yes ? Writes::all : Writes::ends; }
  bool spent() const { return options_.time_budget > 0 && now() - began_ > options_.time_budget; }

  const SweepOptions& options_;
  const SweptSubject& subject_;
  TracedRun& run_;
  Nanoseconds began_;
  std::string zygote_;                       // socket of one that forks from now on; empty: every process is a fresh one
  std::map<CellPlace, TracePlan> stood_in_;  // what was made by forked processes or with replayed compilers
  History recorded_;
  Recording recording_;
  std::vector<std::string> unordered_;  // roles
  std::vector<KillClass> classes_;
  std::vector<std::size_t> lock_taken_;  // rows whose copy's fresh process took a lock of the dead away
  SweepReference reference_;
  SweepMatrix matrix_;
  HangBounds bounds_;
  std::string tapes_;                   // directory; empty: every compiler is the real one
  std::optional<Error> failed_;
  bool interrupted_ = false;
};

}  // namespace jitrace
