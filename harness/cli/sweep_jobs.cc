// What a sweep does once it has its recordings: which plans it carries out, and where their cells go.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "cli/sweep_run.h"
#include "search/sweep_plans.h"

namespace jitrace {
namespace {

bool has_replayed(const History& history) {
  return std::any_of(history.events.begin(), history.events.end(),
                     [](const Event& event) { return event.kind == EventKind::process_started && event.b == 1; });
}

std::string mismatch(const std::string& step, const SweepCell& before, const SweepCell& after, const char* first, const char* then) {
  return step + ": " + std::string(name_of(before.end)) + " " + first + ", " + std::string(name_of(after.end)) + " " + then +
         (after.detail.empty() ? "" : " (" + after.detail + ")");
}

}  // namespace

SweepCell& Sweep::cell_of(const Job& job) {
  return job.column ? matrix_.rows[job.at].cells[*job.column] : matrix_.faults[job.at].cell;
}

void Sweep::save_replay(const Job& job, SweepCell& cell, const History& history) {
  if (!is_finding(cell.end)) return;
  const std::string name = job.column ? fmt::format("{:03}-{}", job.at, name_of(*job.column)) : fmt::format("fault-{:03}", job.at);
  TracePlan plan = job.plan;
  plan.cache.clear();
  plan.restore.clear();
  plan.zygote.clear();
  plan.tapes.clear();
  plan.showed = std::string(name_of(cell.end));
  const std::string path = join(join(run_.dir().path(), "replays"), name + ".plan");
  auto saved = make_dirs(parent_of(path));
  if (saved) saved = write_file_atomically(path, plan.text());
  if (saved) saved = write_file_atomically(join(parent_of(path), name + ".history"), history.text());
  if (!saved) failed_ = saved.error();
  cell.replay = path;
}

Result<void> Sweep::run_jobs(const char* what, std::vector<Job> jobs, const std::function<void(const Job&, SweepCell)>& take) {
  if (jobs.empty() || spent()) return {};
  std::vector<TracePlan> plans;
  for (const Job& job : jobs) plans.push_back(job.plan);
  std::size_t ended = 0;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return run_.run(plans, [&](std::size_t index, Result<History> history) {
    const Job& job = jobs[index];
    SweepCell cell;
    if (history) {
      cell = judge_traced(job.plan, *history, reference_);
      if (job.plan.work != TraceWork::recover) {
        cell.confirmed = "real";
        save_replay(job, cell, *history);
      } else {
        cell.confirmed = "snapshot";
        if (takes_a_lock_away(recording_, *history)) lock_taken_.push_back(job.at);
      }
      cell.replayed = has_replayed(*history);
      lower(bounds_, *history);
    } else {
      cell.end = SweepEnd::inconclusive;
      cell.detail = history.error().message();
    }
    if (!job.plan.zygote.empty()) cell.processes = SweepProcesses::forked;
    if (cell.processes == SweepProcesses::forked || cell.replayed) stood_in_[{job.at, job.column}] = job.plan;
    ++ended;
    if (terminal) std::fprintf(stderr, "\r%s: %zu of %zu\x1b[K", what, ended, jobs.size());
    else if (ended == jobs.size()) std::fprintf(stderr, "%s: %zu of %zu\n", what, ended, jobs.size());
    if (terminal && ended == jobs.size()) std::fprintf(stderr, "\n");
    take(job, std::move(cell));
  });
}

Result<void> Sweep::run_jobs(const char* what, std::vector<Job> jobs) {
  return run_jobs(what, std::move(jobs), [this](const Job& job, SweepCell cell) { cell_of(job) = std::move(cell); });
}

Sweep::Job Sweep::tree_kill(std::size_t row) const {
  return {row, SweepColumn::tree, kill_plan(base(), recording_, classes_[row], SweepColumn::tree)};
}

Result<void> Sweep::kill_trees() {
  std::vector<Job> jobs;
  if (options_.signal != SIGKILL) {
    // What a handler does on its way out is in no snapshot.
    for (std::size_t row = 0; row < classes_.size(); ++row) jobs.push_back(tree_kill(row));
    return run_jobs("whole tree, real kills", std::move(jobs));
  }
  std::size_t snapshot = 0;
  std::error_code code;
  const std::string root = std::filesystem::absolute(join(run_.dir().path(), "snapshots"), code).lexically_normal();
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    std::string from;
    if (classes_[row].step.side == Side::after) {
      from = join(root, std::to_string(snapshot++));
      if (!exists(from) || !copy_tells_all(recorded_, classes_[row])) {
        // Or the second run did not come there: the kill itself will say.
        jobs.push_back(tree_kill(row));
        continue;
      }
    }
    jobs.push_back({row, SweepColumn::tree, recover_plan(base(), recording_, classes_[row], from)});
  }
  return run_jobs("whole tree, from snapshots", std::move(jobs));
}

// The cell is that of the kill: a copy was not to be asked, so that another end is no contradiction.
Result<void> Sweep::kill_where_locks_were_taken() {
  std::vector<Job> jobs;
  for (const std::size_t row : lock_taken_) jobs.push_back(tree_kill(row));
  return run_jobs("whole tree, real kills where a lock was taken away", std::move(jobs));
}

Result<void> Sweep::kill_builders() {
  std::vector<Job> jobs;
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    for (const SweepColumn column : {SweepColumn::builder_orphan_first, SweepColumn::builder_orphan_held}) {
      if (leaves_orphans(recorded_, classes_[row])) {
        jobs.push_back({row, column, kill_plan(base(), recording_, classes_[row], column)});
      } else {
        matrix_.rows[row].cells[column].end = SweepEnd::not_applicable;
      }
    }
  }
  return run_jobs("builder alone, real kills", std::move(jobs));
}

Result<void> Sweep::kill_beside_waiters() {
  if (options_.waiter == SweepOptions::Waiter::none) return {};
  std::vector<Job> jobs;
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    for (const SweepColumn column : every_sweep_column) {
      if (!has_waiter(column)) continue;
      if (kills_tree(column) || leaves_orphans(recorded_, classes_[row])) {
        jobs.push_back({row, column, kill_plan(base(), recording_, classes_[row], column)});
      } else {
        matrix_.rows[row].cells[column].end = SweepEnd::not_applicable;
      }
    }
  }
  return run_jobs("beside one that waits, real kills", std::move(jobs));
}

void Sweep::add_faults(std::vector<Job>& jobs, const std::vector<FaultPoint>& points, Reply reply) {
  for (const FaultPoint& point : points) {
    std::string fault = name_of_errno(point.error);
    if (point.cut != Cut::none) fault = fmt::format("cut to {}, then SIGKILL", point.cut == Cut::half ? "half" : "all but a byte");
    else if (reply == Reply::lost) fault = "lost reply, " + fault;
    jobs.push_back({matrix_.faults.size(), std::nullopt, fault_plan(base(), recording_, point, reply)});
    matrix_.faults.push_back({point.step.text(), std::move(fault), point.calls, {}});
  }
}

Result<void> Sweep::fault_calls() {
  std::vector<Job> jobs;
  if (options_.torn_writes == SweepOptions::TornWrites::yes) add_faults(jobs, cut_points(recording_, writes()), Reply::refused);
  if (options_.lost_replies == SweepOptions::LostReplies::yes) {
    add_faults(jobs, lost_reply_points(recording_, writes()), Reply::lost);
  }
  for (const int error : options_.errors) add_faults(jobs, error_points(recording_, error, writes()), Reply::refused);
  return run_jobs("faults at single calls", std::move(jobs));
}

// Every finding from a snapshot, and a seeded tenth of the rest, by a real kill.
Result<void> Sweep::confirm() {
  std::vector<Job> jobs;
  const auto sample = rows_to_confirm(classes_.size(), options_.seed);
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    const SweepCell& cell = matrix_.rows[row].cells[SweepColumn::tree];
    const bool drawn = std::find(sample.begin(), sample.end(), row) != sample.end();
    if (cell.confirmed != "snapshot" || (!is_finding(cell.end) && !drawn)) continue;
    jobs.push_back(tree_kill(row));
  }
  return run_jobs("confirmed by real kills", std::move(jobs), [this](const Job& job, SweepCell cell) {
    SweepCell& before = cell_of(job);
    if (before.end != cell.end) {
      matrix_.mismatches.push_back(mismatch(matrix_.rows[job.at].step, before, cell, "from a snapshot", "after the real kill"));
    }
    before = std::move(cell);
  });
}

// Without a zygote and with the real compilers. Another end says that what stood in for them is not what they are, so that
// no cell shows anything for certain.
Result<void> Sweep::confirm_stand_ins() {
  std::vector<Job> jobs;
  for (const CellPlace& place : cells_to_confirm(matrix_, options_.seed)) {
    TracePlan plan = stood_in_.at(place);
    plan.zygote.clear();
    plan.tapes.clear();
    jobs.push_back({place.at, place.column, std::move(plan)});
  }
  if (!jobs.empty() && spent()) {
    matrix_.downgrades.push_back("no cell was confirmed by fresh processes and real compilers: the time was spent");
  }
  return run_jobs("confirmed by fresh processes", std::move(jobs), [this](const Job& job, SweepCell cell) {
    SweepCell& before = cell_of(job);
    if (before.end != cell.end) {
      const std::string& step = job.column ? matrix_.rows[job.at].step : matrix_.faults[job.at].step;
      const bool forked = before.processes == SweepProcesses::forked;
      const char* how = !before.replayed ? "from the preloaded process"
                        : forked         ? "from the preloaded process with replayed compilers"
                                         : "with replayed compilers";
      matrix_.mismatches.push_back(mismatch(step, before, cell, how, forked ? "in fresh ones" : "with the real ones"));
    } else if (before.processes == SweepProcesses::forked) {
      cell.processes = SweepProcesses::confirmed;
    }
    before = std::move(cell);
  });
}

}  // namespace jitrace
