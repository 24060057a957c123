// `jitrace sweep SCENARIO`: the subjects of a scenario, and whether their matrices show what it promises.
#include <cstdio>

#include "base/file.h"
#include "cli/environment.h"
#include "cli/machine.h"
#include "cli/prepared.h"
#include "cli/record.h"
#include "cli/run_dir.h"
#include "cli/sweep.h"
#include "cli/sweep_preset.h"
#include "plan/sweep_expected.h"

namespace jitrace {
namespace {

// The worst of two: what could not be swept, then findings, then what could not be told.
ExitCode worse(ExitCode one, ExitCode other) {
  const auto rank = [](ExitCode code) {
    if (code == ExitCode::inconclusive) return 1;
    if (code == ExitCode::findings) return 2;
    return static_cast<int>(code);  // the others are further apart
  };
  return rank(one) < rank(other) ? other : one;
}

struct Swept {
  std::string subject;
  std::vector<std::string> command;  // of a preset: none until it is known how this machine can run it
  std::string skipped;
};

Result<void> make_programs(const Scenario& scenario, std::vector<Swept>& all) {
  std::optional<Machine> machine;  // compilers are asked who they are; commands need none of them
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].command.empty()) continue;
    if (!machine) {
      TRY_ASSIGN(machine, look_around({}));
    }
    TRY_ASSIGN(PresetProgram program, preset_program(scenario, scenario.subjects[i], *machine));
    all[i].command = std::move(program.command);
    all[i].skipped = std::move(program.skipped);
  }
  return {};
}

}  // namespace

ExitCode sweep_scenario(const SweepOptions& options, const std::string& file) {
  Catalogue catalogue = make_catalogue();
  catalogue.kernels = kernel_names(find_kernels(file));
  const std::optional<Scenario> scenario = read_scenario(file, options.overrides, catalogue);
  if (!scenario) return ExitCode::usage;
  std::vector<Swept> all;
  for (const Subject& subject : scenario->subjects) all.push_back({subject.name, subject.command, ""});
  if (const auto made = make_programs(*scenario, all); !made) return complain(made.error(), ExitCode::usage);
  const TracedOptions& traced = options.traced;
  const auto dir = traced.out.empty() ? RunDir::create_fresh(scenario->name) : RunDir::create(traced.out);
  if (!dir) return complain(dir.error(), ExitCode::unusable);
  ExitCode code = ExitCode::met;
  for (const Swept& swept : all) {
    if (!swept.skipped.empty()) {
      std::fprintf(stderr, "%s is skipped: %s\n", swept.subject.c_str(), swept.skipped.c_str());
      code = worse(code, ExitCode::inconclusive);
      continue;
    }
    SweepOptions one = options;
    one.traced.command = swept.command;
    one.traced.out = join(dir->path(), swept.subject);
    if (all.size() > 1) std::fprintf(stderr, "%s\n", swept.subject.c_str());
    const ExitCode ended = sweep_subject(one, {swept.subject, sweeps_of(*scenario, swept.subject)});
    if (ended == ExitCode::interrupted || ended == ExitCode::terminated) return ended;
    code = worse(code, ended);
  }
  return code;
}

}  // namespace jitrace
