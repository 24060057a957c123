#include <algorithm>
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/prepared.h"
#include "loader/loader.h"
#include "plan/cells.h"
#include "process/launch.h"
#include "scenario/fault.h"
#include "scenario/parse.h"
#include "strategy/preset.h"
#include "verdict/finding.h"

namespace jitrace {
namespace {

void row(const std::string& name, const std::string& text) {
  // One line a thing, in 80 columns: what does not fit is in the README.
  constexpr std::size_t column = 32;
  const std::string line = "  " + name + std::string(name.size() < column ? column - name.size() : 1, ' ') + text;
  std::printf("%s\n", line.size() <= 80 ? line.c_str() : (line.substr(0, 77) + "...").c_str());
}

bool is_usable(const std::string& kind, const Machine& machine) {
  const auto& names = machine.usable.toolchains;
  return std::any_of(names.begin(), names.end(), [&kind](const std::string& name) { return toolchain_kind(name) == kind; });
}

bool is_installed(const std::string& program) {
  Command command;
  command.argv = {program};
  return find_program(command).has_value();
}

// "nvcc, cxx, fake": what it can build with here; nothing builds with ninja where there is none.
std::string builds_with(const Preset& preset, const Catalogue& catalogue, const Machine& machine) {
  const CataloguePreset* known = catalogue.find(preset.name);
  const bool by_ninja = known != nullptr && known->run == "ninja";
  std::vector<std::string> kinds;
  for (const std::string& kind : catalogue.toolchains) {
    if (is_usable(kind, machine) && !(by_ninja && kind == "nvrtc")) kinds.push_back(kind);
  }
  return by_ninja && !is_installed("ninja") ? std::string() : join_text(kinds, " ");
}

void list_strategy(const Preset& preset, const Catalogue& catalogue, const Machine& machine) {
  const std::string with = builds_with(preset, catalogue, machine);
  row(std::string(preset.name), (with.empty() ? "not usable: no ninja; " : "usable, " + with + "; ") + std::string(preset.mirrors));
}

// Empty: it runs here, or most of it.
std::string why_unusable(const Scenario& scenario, const Machine& machine) {
  for (const Subject& subject : scenario.subjects) {
    if (subject.command.empty() || subject.command.front().find('{') != std::string::npos) continue;
    if (!is_installed(subject.command.front())) return "no " + subject.command.front();
  }
  const bool has_presets = std::any_of(scenario.subjects.begin(), scenario.subjects.end(),
                                       [](const Subject& subject) { return subject.command.empty(); });
  const Workload& workload = scenario.workload;
  const auto& wanted = workload.each_toolchain.empty() ? workload.toolchains : workload.each_toolchain;
  const bool any = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& kind) { return is_usable(kind, machine); });
  return has_presets && !any ? "no " + join_text(wanted, ", no ") : std::string();
}

void list_scenarios(const Catalogue& catalogue, const Machine& machine) {
  std::printf("scenarios\n");
  const std::string root = find_scenarios();
  for (const std::string& name : list_tree(root)) {
    if (!name.ends_with(".toml")) continue;
    const ParsedScenario parsed = load_scenario(join(root, name), catalogue);
    if (!parsed.scenario) {
      row(name, "cannot be read: " + parsed.errors.front());
      continue;
    }
    const std::string why = why_unusable(*parsed.scenario, machine);
    row(name, (why.empty() ? "usable; " : "not usable: " + why + "; ") + parsed.scenario->about);
  }
}

}  // namespace

ExitCode list_command() {
  const Catalogue catalogue = make_catalogue();
  const auto machine = look_around({});
  if (!machine) return complain(machine.error(), ExitCode::own_fault);
  std::printf("strategies\n");
  for (const Preset& preset : presets()) list_strategy(preset, catalogue, *machine);
  for (const Preset& preset : preset_variants()) list_strategy(preset, catalogue, *machine);
  list_scenarios(catalogue, *machine);
  std::printf("toolchains\n");
  for (const ToolchainProbe& probe : machine->probes) {
    if (probe.toolchain) row(probe.toolchain->name, probe.toolchain->version + ", usable: " + probe.toolchain->program);
    else row(std::string(name_of(probe.kind)), "not usable: " + probe.reason);
  }
  std::printf("loaders\n");
  for (const LoaderProbe& loader : find_loaders()) {
    row(loader.name, (loader.usable ? "usable: " : "not usable: ") + loader.reason);
  }
  std::printf("faults\n");
  for (const std::string& word : fault_words()) row(word, hits_a_process(parse_fault_word(word)->kind) ? "of a process" : "of the cache, by another process");
  std::printf("victims\n");
  for (const std::string& name : victim_names()) row(name, "");
  std::printf("points\n");
  for (const Point point : all_points()) {
    std::string passed;
    int count = 0;
    for (const Preset& preset : presets()) {
      for (const Point own : preset.points) count += own == point ? 1 : 0;
    }
    passed = count == 0 ? "no preset passes it yet" : std::to_string(count) + " presets pass it";
    row(std::string(name_of(point)), passed);
  }
  std::printf("findings\n");
  for (const std::string& name : finding_class_names()) row(name, std::string(describe(*parse_finding_class(name))));
  return ExitCode::met;
}

}  // namespace jitrace
