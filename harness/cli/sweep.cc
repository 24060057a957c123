// One sweep of one command: a kill at every point where the cache or a lock changes, and what fresh processes make of
// what it leaves.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/preload.h"
#include "cli/record.h"
#include "cli/sweep_run.h"
#include "plan/sweep_expected.h"
#include "reports/matrix.h"
#include "search/sweep_plans.h"

namespace jitrace {
namespace {

constexpr Nanoseconds count_patience = seconds(120);

void say(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace

TracePlan Sweep::base() const {
  TracePlan plan = run_.base();
  plan.signal = options_.signal;
  plan.unordered = unordered_;
  plan.zygote = zygote_;
  plan.tapes = tapes_;
  return plan;
}

std::optional<ExitCode> Sweep::record() {
  auto first = run_.first_recording();
  if (!first) return stopped(run_, first.error());
  if (const std::string failure = failure_of(*first); !failure.empty()) {
    if (failure.starts_with("exit 77")) {
      say("jitrace: skipped: the command says that it cannot run here: " + failure);
      return ExitCode::inconclusive;
    }
    say("jitrace: the command fails without any fault, so there is nothing to sweep: " + failure);
    return ExitCode::usage;
  }
  recorded_ = std::move(*first);
  recording_ = recording_of(recorded_);
  unordered_ = concurrent_roles(recorded_);
  if (recording_.calls.empty()) {
    say("jitrace: the command never touched the cache; is {cache} among its arguments?");
    return ExitCode::usage;
  }
  classes_ = kill_classes(recording_, writes());
  matrix_.subject = shell_line(options_.traced.command);
  matrix_.calls = recording_.calls.size();
  matrix_.processes = recording_.processes.size();
  for (const RecordedCall& call : recording_.calls) matrix_.changes += call.changed ? 1 : 0;
  matrix_.beside = touched(recording_, run_.beside());
  matrix_.recorded = recorded_.events.back().stamp;
  matrix_.signal = options_.signal;
  matrix_.machine = describe_machine();
  for (const KillClass& at : classes_) matrix_.rows.push_back({at.step.text(), at.points, {}});
  say("recorded: " + std::to_string(matrix_.calls) + " calls on the cache, " + std::to_string(matrix_.changes) + " changes, " +
      std::to_string(classes_.size()) + " classes of points");
  next_second();
  // The second one copies the cache at each class, and shows what is the same in every run.
  std::error_code code;
  if (options_.compilers == SweepOptions::Compilers::replayed) {
    // It is also what tapes are made from: the run before it met none.
    tapes_ = std::filesystem::absolute(join(run_.dir().path(), "tapes"), code).lexically_normal();
    if (const auto made = make_dirs(tapes_); !made) return stopped(run_, made.error());
  }
  TracePlan again = run_.base();
  again.tapes = tapes_;
  again.snapshots = join(run_.dir().path(), "snapshots");
  again.snapshots = std::filesystem::absolute(again.snapshots, code).lexically_normal();
  again.snapshot_at = snapshot_moments(classes_);
  // And a plain tracer, which shares neither filter nor supervisor, counts what there was to see.
  TracePlan count = run_.base();
  count.work = TraceWork::count;
  count.limit = std::min(count.limit, count_patience);  // for it, waits take as long as they say
  std::vector<TracePlan> plans = varied_recordings(run_.base());
  plans.insert(plans.begin(), {again, count});
  std::vector<Result<History>> all(plans.size(), plain_error("record the command again", "it was not begun"));
  const auto done = run_.run(plans, [&all](std::size_t index, Result<History> history) { all[index] = std::move(history); });
  if (!done) return stopped(run_, done.error());
  const Result<History>&second = all[0], &counted = all[1];
  for (const Result<History>& history : all) {
    if (!history && &history != &counted) return stopped(run_, history.error());
  }
  if (counted) {
    matrix_.counted = 0;
    const auto counts = counts_of(*counted);
    for (const auto& [what, times] : counts) *matrix_.counted += times;
    std::set<std::string> polls = asked_again(recording_);
    polls.merge(asked_again(*counted));
    polls.merge(asked_again(recording_of(*second)));
    CountDifferences found = differences(counts_of(recording_), counts, polls);
    matrix_.miscounted = std::move(found.otherwise);
    matrix_.asked_again = std::move(found.again);
  } else if (run_.signal() == 0 && counted.error().code == ETIMEDOUT) {
    say("not counted a second time: the command waits longer than " + std::to_string(count.limit / seconds(1)) + " s of real time");
  } else {
    return stopped(run_, counted.error());
  }
  if (const std::string failure = failure_of(*second); !failure.empty()) {
    say("jitrace: the command fails now and then without any fault, so there is nothing to sweep: " + failure);
    return ExitCode::usage;
  }
  std::vector<const History*> others;
  for (std::size_t i = 2; i < all.size(); ++i) others.push_back(&all[i].value());
  reference_ = SweepReference::of({&recorded_, &second.value()}, others);
  matrix_.varying.assign(reference_.varying.begin(), reference_.varying.end());
  std::set<std::string> unfollowed;
  for (const History* history : {&std::as_const(recorded_), &second.value()}) {
    for (const Event& event : history->events) {
      if (event.kind == EventKind::warned) unfollowed.insert(event.text);
    }
  }
  matrix_.downgrades.assign(unfollowed.begin(), unfollowed.end());
  return std::nullopt;
}

std::optional<ExitCode> Sweep::carry_out() {
  if (const auto code = record()) return code;
  if (!options_.preload.empty()) {
    if (const auto code = preload(run_, options_.preload, &zygote_)) return code;
  }
  for (SweepRow& row : matrix_.rows) {
    for (const SweepColumn column : every_sweep_column) {
      if (!has_waiter(column) || options_.waiter == SweepOptions::Waiter::beside) row.cells[column] = {};
    }
  }
  for (Result<void> (Sweep::*step)() : {&Sweep::kill_trees, &Sweep::kill_where_locks_were_taken, &Sweep::confirm,
                                        &Sweep::kill_builders, &Sweep::kill_beside_waiters, &Sweep::fault_calls,
                                        &Sweep::confirm_stand_ins}) {
    const auto done = (this->*step)();
    if (done) continue;
    if (run_.signal() != 0) {
      interrupted_ = true;  // what was found out until now is reported
      break;
    }
    return complain(done.error(), code_for(done.error()));
  }
  if (failed_) return complain(*failed_, code_for(*failed_));
  return std::nullopt;
}

ExitCode Sweep::report() {
  matrix_.took = now() - began_;
  matrix_.virtual_hours = bounds_.virtual_hours;
  matrix_.unchanged_polls = bounds_.polls;
  matrix_.cache = run_.cache();
  matrix_.file_system = describe_cache(run_.cache()).fs;
  if (subject_.expected) matrix_.unmet = unmet_of(matrix_, *subject_.expected);
  (void)remove_tree(join(run_.dir().path(), "snapshots"));
  if (!tapes_.empty()) (void)remove_tree(tapes_);
  if (const auto written = write_matrix_reports(matrix_, run_.dir().path()); !written) return complain(written.error(), ExitCode::unusable);
  ConsoleOptions console;
  console.colour = colour_for(options_.colour);
  SweepMatrix shown = matrix_;
  shown.cache = shown_path(shown.cache);
  for (SweepRow& row : shown.rows) {
    for (auto& [column, cell] : row.cells) cell.replay = shown_path(cell.replay);
  }
  for (SweepFault& fault : shown.faults) fault.cell.replay = shown_path(fault.cell.replay);
  std::printf("%s", render_matrix_console(shown, console).c_str());
  std::printf("kept in\n    %s\n", shown_path(run_.dir().path()).c_str());
  if (interrupted_) return interrupted_by(run_.signal());
  switch (verdict_of(matrix_)) {
    case SweepVerdict::pass: return ExitCode::met;
    case SweepVerdict::findings: return ExitCode::findings;
    case SweepVerdict::inconclusive: return ExitCode::inconclusive;
  }
  return ExitCode::own_fault;
}

ExitCode sweep_subject(const SweepOptions& options, const SweptSubject& subject) {
  ExitCode code = ExitCode::met;
  if (!options.preload.empty()) {
    const std::string refusal = preload_refusal(options.traced.command, options.preload);
    if (!refusal.empty()) return complain(plain_error("preload", refusal), ExitCode::usage);
  }
  const auto run = TracedRun::begin(options.traced, subject.name, options.jobs, &code);
  if (!run) return code;
  Sweep sweep(options, subject, *run);
  if (const auto ended = sweep.carry_out()) return *ended;
  return sweep.report();
}

ExitCode sweep_command(const SweepOptions& options) {
  const std::vector<std::string>& command = options.traced.command;
  if (command.size() == 1 && command.front().ends_with(".toml")) return sweep_scenario(options, command.front());
  return sweep_subject(options, {"sweep", std::nullopt});
}

}  // namespace jitrace
