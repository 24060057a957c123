#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/campaign.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/prepared.h"
#include "cli/record.h"
#include "reports/console.h"
#include "reports/write_reports.h"
#include "scenario/parse.h"

namespace jitrace {
namespace {

ExitCode print_plans(const Scenario& scenario, const std::vector<CellPlan>& cells) {
  for (const CellPlan& cell : cells) {
    if (!cell.not_applicable.empty()) {
      std::printf("# %s: not applicable: %s\n", cell.id.c_str(), cell.not_applicable.c_str());
    } else if (!cell.skipped.empty()) {
      std::printf("# %s: skipped: %s\n", cell.id.c_str(), cell.skipped.c_str());
    } else {
      for (int trial = 1; trial <= cell.trials; ++trial) std::printf("%s\n", plan_of(scenario, cell, trial).text().c_str());
    }
  }
  return ExitCode::met;
}

// What the search for a toolchain had to say, for cells whose toolchain is missing: cell → why.
std::map<std::string, std::string> why_not(const std::vector<CellPlan>& cells, const Machine& machine) {
  std::map<std::string, std::string> reasons;
  for (const CellPlan& cell : cells) {
    if (cell.skipped.empty() || !cell.not_applicable.empty()) continue;
    for (const ToolchainProbe& probe : machine.probes) {
      if (!probe.toolchain && name_of(probe.kind) == cell.toolchain) reasons[cell.id] = cell.skipped + ": " + probe.reason;
    }
  }
  return reasons;
}

// Removes the caches; one that is kept, or holds what is no longer ours to remove, stays and is named.
void remove_caches(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    if (const auto removed = remove_tree(root); !removed) {
      std::fprintf(stderr, "jitrace: %s\n", removed.error().message().c_str());
    }
  }
}

}  // namespace

std::optional<Scenario> read_scenario(const std::string& path, const Overrides& overrides, const Catalogue& catalogue) {
  ParsedScenario parsed = load_scenario(path, catalogue);
  std::vector<std::string> errors = parsed.errors;
  if (parsed.scenario) {
    for (const std::string& error : apply(overrides, catalogue, *parsed.scenario)) errors.push_back(error);
  }
  for (const std::string& error : errors) std::fprintf(stderr, "%s\n", error.c_str());
  if (!errors.empty() || !parsed.scenario) return std::nullopt;
  return std::move(*parsed.scenario);
}

ExitCode run_command(const RunOptions& options) {
  Catalogue catalogue = make_catalogue();
  catalogue.kernels = kernel_names(find_kernels(options.scenario));
  const std::optional<Scenario> scenario = read_scenario(options.scenario, options.overrides, catalogue);
  if (!scenario) return ExitCode::usage;
  auto machine = look_around(options.nvcc);
  if (!machine) return complain(machine.error(), ExitCode::own_fault);
  const std::vector<CellPlan> cells = cells_of(*scenario, catalogue, machine->usable);
  if (options.dry_run == DryRun::yes) return print_plans(*scenario, cells);
  if (std::all_of(cells.begin(), cells.end(), [](const CellPlan& cell) { return !cell.not_applicable.empty(); })) {
    for (const CellPlan& cell : cells) std::fprintf(stderr, "jitrace: nothing to run: %s: %s\n", cell.id.c_str(), cell.not_applicable.c_str());
  }

  auto interrupt = Interrupt::create();
  if (!interrupt) return complain(interrupt.error(), ExitCode::own_fault);
  auto run_dir = options.out.empty() ? RunDir::create_fresh(scenario->name) : RunDir::create(options.out);
  if (!run_dir) return complain(run_dir.error(), ExitCode::unusable);

  Setup setup;
  setup.libexec = machine->libexec;
  setup.run_dir = run_dir->path();
  setup.kernel_dir = find_kernels(options.scenario);
  setup.keeper = {join(machine->libexec, "guard"), 0, interrupt->fd().get()};
  setup.run_id = hex(random_bits()).substr(8);

  // The guards first, told of the directories before they are made: whatever ends the driver, they remove them.
  std::vector<std::string> scrap;
  std::vector<std::string> dirs = scenario->cache.dirs;
  for (const std::string& dir : dirs) scrap.push_back(join(dir, "jitrace-" + setup.run_id));
  if (dirs.empty()) scrap.push_back(join(run_dir->path(), "cache"));
  auto lanes = start_lanes(options.jobs, machine->libexec, scrap);
  if (!lanes) return complain(lanes.error(), ExitCode::own_fault);
  auto roots = make_caches(dirs, run_dir->path(), setup.run_id);
  if (!roots) {
    run_dir->discard();
    return complain(roots.error(), ExitCode::unusable);
  }
  setup.cache_roots = *roots;

  CacheInfo cache = describe_cache(roots->front());
  cache.dir = parent_of(roots->front());
  Record record;
  record.scenario = scenario->name;
  record.options = options;
  record.toolchains = machine->toolchains;
  record.usable = machine->usable;
  record.machine = describe_machine();
  record.cache = cache;
  record.kernel_dir = setup.kernel_dir;
  if (const auto saved = save_record(*run_dir, record, options.scenario); !saved) return complain(saved.error(), ExitCode::unusable);

  Campaign campaign(*scenario, cells, setup, *run_dir, {options.keep, options.jobs, options.time_budget},
                    machine->toolchains, cache);
  const auto progress = make_progress();
  for (const auto& [cell, reason] : why_not(cells, *machine)) campaign.skip(cell, reason);
  Result<void> ran = campaign.prepare();
  if (ran) ran = campaign.run(*lanes, interrupt->fd(), *progress);
  progress->finish();
  const int signal = interrupt->signal();
  remove_caches(*roots);
  for (const auto& [name, ready] : setup.toolchains) (void)remove_tree(ready.shadow);

  record.skipped = campaign.skipped();
  record.interrupted = signal != 0 || campaign.interrupted();
  if (ran) ran = save_record(*run_dir, record, options.scenario);
  Report report = make_report(*scenario, record, campaign, run_dir->path());
  const auto written = write_reports(report, run_dir->path());
  std::fputs(console_text(report, options.colour).c_str(), stdout);
  if (!ran) return complain(ran.error(), code_for(ran.error()));
  if (!written) return complain(written.error(), ExitCode::unusable);
  if (report.interrupted) return interrupted_by(signal);
  return code_of(report.verdict);
}

}  // namespace jitrace
