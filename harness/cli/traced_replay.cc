// `jitrace replay FILE` for a plan that a sweep kept.
#include <csignal>
#include <cstdio>
#include <map>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/traced.h"
#include "cli/traced_replay.h"
#include "plan/sweep_matrix.h"
#include "process/wait_status.h"
#include "reports/escape.h"
#include "search/sweep_plans.h"
#include "verdict/sweep_cell.h"

namespace jitrace {

namespace {

// What is done besides a plain SIGKILL: "lost reply, EEXIST, ".
std::string fault_words(const TracePlan& plan) {
  std::string words;
  if (plan.work == TraceWork::answer) words += (plan.reply == Reply::lost ? "lost reply, " : "answered ") + name_of_errno(plan.error) + ", ";
  if (plan.cut != Cut::none) words += "cut to " + std::string(name_of(plan.cut)) + ", ";
  if (plan.signal != SIGKILL) words += name_of_signal(plan.signal) + " ";
  if (plan.waiters > 0) words += "beside one that waits, ";
  return words;
}

}  // namespace

bool is_traced_plan(const std::string& text) { return text.starts_with("jitrace traced-plan "); }

ExitCode replay_traced(const std::string& text, const ReplayOptions& options) {
  const auto plan = TracePlan::parse(text);
  if (!plan) return complain(make_error("replay", options.file, 0, plan.error().message()), ExitCode::usage);
  TracedOptions traced;
  traced.command = plan->command;
  traced.beside = plan->beside;
  traced.cache_dirs = options.cache_dirs;
  traced.out = options.out;
  ExitCode code = ExitCode::met;
  const auto run = TracedRun::begin(traced, "replay", 0, &code);
  if (!run) return code;
  // What an artifact should be like is known from fault-free runs here, not from where the file was made.
  TracePlan fault_free = *plan;
  fault_free.work = TraceWork::record;
  fault_free.step.reset();
  fault_free.steps.clear();
  std::vector<TracePlan> wanted = varied_recordings(fault_free);
  wanted.insert(wanted.begin(), 2, fault_free);
  std::vector<History> references(wanted.size());
  std::size_t recorded = 0;
  auto done = run->run(wanted, [&](std::size_t index, Result<History> history) {
    if (!history) return;
    references[index] = std::move(*history);
    ++recorded;
  });
  if (!done) return stopped(*run, done.error());
  if (recorded != wanted.size()) return complain(plain_error("replay " + options.file, "its command cannot be run here"), ExitCode::own_fault);
  if (const std::string failure = failure_of(references.front()); !failure.empty()) {
    return complain(plain_error("replay " + options.file, "the command fails here without any fault: " + failure), ExitCode::inconclusive);
  }
  std::vector<const History*> others;
  for (std::size_t i = 2; i < references.size(); ++i) others.push_back(&references[i]);
  const SweepReference reference = SweepReference::of({&references[0], &references[1]}, others);
  std::map<std::string, int> ends;
  std::map<std::string, std::string> details;
  int findings = 0, undecided = 0, ended = 0;
  const std::vector<TracePlan> plans(static_cast<std::size_t>(options.trials), *plan);
  done = run->run(plans, [&](std::size_t, Result<History> history) {
    SweepCell cell;
    cell.end = SweepEnd::inconclusive;
    if (history) cell = judge_traced(*plan, *history, reference);
    else cell.detail = history.error().message();
    const std::string name(name_of(cell.end));
    ++ends[name];
    ++ended;
    if (!cell.detail.empty()) details.emplace(name, cell.detail);
    findings += is_finding(cell.end) ? 1 : 0;
    undecided += cell.end == SweepEnd::inconclusive ? 1 : 0;
  });
  std::printf("replayed %s%s, %d times (traced: at the step itself)\n", fault_words(*plan).c_str(),
              plan->step ? plan->step->text().c_str() : options.file.c_str(), ended);
  for (const auto& [name, count] : ends) {
    std::printf("  %s %d of %d\n", name.c_str(), count, ended);
    if (details.contains(name)) std::printf("    %s\n", for_terminal(details[name]).c_str());
  }
  if (!plan->showed.empty()) std::printf("when it was kept it showed: %s\n", plan->showed.c_str());
  if (!done) return stopped(*run, done.error());
  if (findings > 0) return ExitCode::findings;
  return undecided > 0 || ended == 0 ? ExitCode::inconclusive : ExitCode::met;
}

}  // namespace jitrace
