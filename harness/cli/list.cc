#include <cstdio>
#include <string>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/prepared.h"
#include "loader/loader.h"
#include "scenario/fault.h"
#include "scenario/parse.h"
#include "strategy/preset.h"
#include "verdict/finding.h"

namespace jitrace {
namespace {

void row(const std::string& name, const std::string& text) {
  // One line a thing, in 80 columns: what does not fit is in the README.
  const std::string line = "  " + name + std::string(name.size() < 28 ? 28 - name.size() : 1, ' ') + text;
  std::printf("%s\n", line.size() <= 80 ? line.c_str() : (line.substr(0, 77) + "...").c_str());
}

void list_scenarios(const Catalogue& catalogue) {
  std::printf("scenarios\n");
  const std::string root = find_scenarios();
  for (const std::string& name : list_tree(root)) {
    if (!name.ends_with(".toml")) continue;
    const ParsedScenario parsed = load_scenario(join(root, name), catalogue);
    row(name, parsed.scenario ? parsed.scenario->about : "cannot be read: " + parsed.errors.front());
  }
}

}  // namespace

ExitCode list_command() {
  const Catalogue catalogue = make_catalogue();
  std::printf("strategies\n");
  for (const Preset& preset : presets()) row(std::string(preset.name), std::string(preset.mirrors));
  for (const Preset& preset : preset_variants()) row(std::string(preset.name), std::string(preset.mirrors));
  list_scenarios(catalogue);
  const auto machine = look_around({});
  if (!machine) return complain(machine.error(), ExitCode::own_fault);
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
