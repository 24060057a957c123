#include "cli/sweep_preset.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "cli/environment.h"
#include "worker/alone.h"

namespace jitrace {
namespace {

// By its name where it is one of those that come with the program: a replay works on another machine then.
std::string kernel_argument(const std::string& scenario_file, const std::string& kernel) {
  const std::string directory = find_kernels(scenario_file);
  std::error_code code;
  if (std::filesystem::equivalent(directory, join(find_scenarios(), "kernels"), code)) return kernel;
  return join(directory, kernel + ".cu");
}

}  // namespace

Result<PresetProgram> preset_program(const Scenario& scenario, const Subject& subject, const Machine& machine) {
  const auto refused = [&subject](const std::string& reason) { return plain_error("sweep " + subject.name, reason); };
  PresetProgram program;
  const WorkerEntry& worker = subject.workers.front();
  for (const WorkerEntry& other : subject.workers) {
    if (other.preset != worker.preset) return refused("it mixes presets, and a sweep is of one program");
    if (other.action != "get") return refused("a sweep is of a get, not of a " + other.action);
  }
  const Catalogue catalogue = make_catalogue();
  for (const CellPlan& cell : cells_of(scenario, catalogue, machine.usable)) {
    if (cell.subject.name != subject.name) continue;
    const auto ready = std::find_if(machine.toolchains.begin(), machine.toolchains.end(),
                                    [&cell](const Toolchain& toolchain) { return toolchain.name == cell.toolchain; });
    if (!cell.not_applicable.empty() || !cell.skipped.empty() || ready == machine.toolchains.end()) {
      if (program.skipped.empty()) program.skipped = cell.skipped.empty() ? cell.not_applicable : cell.skipped;
      continue;
    }
    const Plan plan = plan_of(scenario, cell, 1);
    AloneOptions options;
    options.preset = worker.preset;
    options.cache = "{cache}";
    options.kernel = kernel_argument(scenario.file, plan.kernels.front());
    options.toolchain = *ready;
    if (ready->kind == ToolchainKind::fake) options.toolchain.program.clear();  // it lies beside `get`
    options.arch = plan.arch;
    options.loader.kind = plan.loader == "cuda" ? plan.loader : "";
    options.loader.device = plan.device == plan.arch ? "" : plan.device;
    options.loader.api = plan.load_api == "module" ? LoadApi::symbols_then_module : LoadApi::library;
    options.bound_scale = plan.bound_scale;
    options.fake_duration = plan.fake_duration;
    program.skipped.clear();
    program.command = options.words();
    program.command.insert(program.command.begin(), "{libexec}/get");
    return program;
  }
  return program;
}

}  // namespace jitrace
