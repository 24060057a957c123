#include <cstdio>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/interrupt.h"
#include "cli/prepared.h"
#include "cli/record.h"
#include "cli/run_dir.h"
#include "cli/traced_replay.h"
#include "search/replay.h"
#include "verdict/trial_verdict.h"

namespace jitrace {
namespace {

// A plan file, or the plan in a history.
Result<Plan> plan_in(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  if (!text.starts_with("jitrace history ")) return read_plan(path);
  TRY_ASSIGN(const History history, History::parse(text));
  return Plan::parse(history.plan);
}

// What the file says the plan showed when it was kept: "# showed: hang". Empty if it does not say.
std::string shown_before(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  for (const std::string& line : split(*text, '\n')) {
    constexpr std::string_view mark = "# showed: ";
    if (line.starts_with(mark)) return line.substr(mark.size());
  }
  return {};
}

// Where the run that kept the file took its kernels from; a file that lies elsewhere by now is taken for a scenario.
std::string kernels_for(const std::string& path) {
  std::error_code code;
  const std::string full = std::filesystem::absolute(path, code).lexically_normal();
  const RunDir run_dir(parent_of(parent_of(parent_of(full))));  // RUN/cells/CELL/FILE
  const auto record = load_record(run_dir);
  return record && exists(record->kernel_dir) ? record->kernel_dir : find_kernels(path);
}

struct Counted {
  int done = 0;
  int inconclusive = 0;
  std::map<std::string, int> findings;
  std::map<std::string, std::string> evidence;
  int clean = 0;
};

void take_in(Counted& counted, const TrialVerdict& verdict) {
  ++counted.done;
  if (!verdict.inconclusive.empty()) {
    ++counted.inconclusive;
    counted.evidence["inconclusive"] = verdict.inconclusive;
  }
  std::map<std::string, int> seen;
  for (const Finding& finding : verdict.findings) {
    const std::string name(name_of(finding.kind));
    if (seen[name]++ == 0) ++counted.findings[name];
    if (!counted.evidence.contains(name) && !finding.evidence.empty()) counted.evidence[name] = finding.evidence.front();
  }
  if (verdict.findings.empty() && verdict.inconclusive.empty()) ++counted.clean;
}

void print(const Plan& plan, const Counted& counted, const std::string& before) {
  std::printf("replayed %s, trial %d, %d times (%s)\n", plan.cell.c_str(), plan.trial, counted.done,
              plan.mode == Mode::free ? "free: nothing is held, a kill comes at its moment" : "gated: ordered by gates, timed by the machine");
  for (const auto& [name, count] : counted.findings) {
    std::printf("  %s %d of %d\n", name.c_str(), count, counted.done);
    if (const auto found = counted.evidence.find(name); found != counted.evidence.end()) std::printf("    %s\n", found->second.c_str());
  }
  if (counted.clean > 0) std::printf("  nothing found %d of %d\n", counted.clean, counted.done);
  if (counted.inconclusive > 0) {
    std::printf("  inconclusive %d of %d: %s\n", counted.inconclusive, counted.done, counted.evidence.at("inconclusive").c_str());
  }
  if (!before.empty()) std::printf("when it was kept it showed: %s\n", before.c_str());
}

}  // namespace

ExitCode replay_command(const ReplayOptions& options) {
  if (const auto text = read_file(options.file); text && is_traced_plan(*text)) return replay_traced(*text, options);
  const auto plan = plan_in(options.file);
  if (!plan) return complain(make_error("replay", options.file, plan.error().code, plan.error().message()), ExitCode::usage);
  auto machine = look_around(options.nvcc);
  if (!machine) return complain(machine.error(), ExitCode::own_fault);
  const Toolchain* toolchain = nullptr;
  for (const Toolchain& candidate : machine->toolchains) {
    if (candidate.name == plan->toolchain) toolchain = &candidate;
  }
  if (toolchain == nullptr && plan->command.empty()) {
    return complain(plain_error("replay " + options.file, "it was made with " + plan->toolchain + ", which is not on this machine"),
                    ExitCode::inconclusive);
  }
  auto interrupt = Interrupt::create();
  if (!interrupt) return complain(interrupt.error(), ExitCode::own_fault);
  auto run_dir = options.out.empty() ? RunDir::create_fresh("replay") : RunDir::create(options.out);
  if (!run_dir) return complain(run_dir.error(), ExitCode::unusable);
  Setup setup;
  setup.libexec = machine->libexec;
  setup.run_dir = run_dir->path();
  setup.kernel_dir = kernels_for(options.file);
  setup.keeper = {join(machine->libexec, "guard"), 0, interrupt->fd().get()};
  setup.run_id = hex(random_bits()).substr(8);
  std::vector<std::string> scrap;
  for (const std::string& dir : options.cache_dirs) scrap.push_back(join(dir, "jitrace-" + setup.run_id));
  if (options.cache_dirs.empty()) scrap.push_back(join(run_dir->path(), "cache"));
  auto lanes = start_lanes(1, machine->libexec, scrap);
  if (!lanes) return complain(lanes.error(), ExitCode::own_fault);
  auto roots = make_caches(options.cache_dirs, run_dir->path(), setup.run_id);
  if (!roots) {
    run_dir->discard();
    return complain(roots.error(), ExitCode::unusable);
  }
  setup.cache_roots = *roots;
  Counted counted;
  std::optional<Error> failed;
  if (toolchain != nullptr) {
    if (const auto ready = make_ready(setup, *plan, *toolchain); !ready) failed = ready.error();
  }
  if (!failed) {
    if (const auto measured = measure_typical(*plan, setup, lanes->front(), interrupt->fd()); !measured) failed = measured.error();
  }
  for (int i = 0; i < options.trials && !failed && interrupt->signal() == 0; ++i) {
    const auto result = run_trial(again(*plan, i + 1), setup, lanes->front(), interrupt->fd());
    if (!result) {
      failed = result.error();
      break;
    }
    if (result->end == TrialResult::End::settled) {
      take_in(counted, judge(*plan, result->history));
      if (const auto saved = run_dir->save_history(plan->cell, i + 1, result->history); !saved) failed = saved.error();
    }
    if (const auto removed = remove_trial(*result); !removed && !failed) failed = removed.error();
  }
  for (const std::string& root : *roots) (void)remove_tree(root);
  for (const auto& [name, ready] : setup.toolchains) (void)remove_tree(ready.shadow);
  print(*plan, counted, shown_before(options.file));
  if (const int signal = interrupt->signal(); signal != 0) return interrupted_by(signal);
  if (failed) return complain(*failed, code_for(*failed));
  if (!counted.findings.empty()) return ExitCode::findings;
  return counted.inconclusive > 0 || counted.done == 0 ? ExitCode::inconclusive : ExitCode::met;
}

}  // namespace jitrace
