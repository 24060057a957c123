#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"

namespace {

using jitrace::ExitCode;

int exit_with(ExitCode code) { return static_cast<int>(code); }

// "90", "90s", "5m", "1h" as nanoseconds; CLI11 shows the message.
jitrace::Nanoseconds parse_duration(const std::string& text) {
  std::string number = text;
  std::int64_t unit = 1;
  if (!number.empty() && (number.back() == 's' || number.back() == 'm' || number.back() == 'h')) {
    unit = number.back() == 'm' ? 60 : number.back() == 'h' ? 3600 : 1;
    number.pop_back();
  }
  const auto value = jitrace::parse_int(number);
  constexpr std::int64_t most = 1'000'000'000;  // seconds; more does not fit into nanoseconds
  if (!value || *value <= 0 || *value > most / unit) throw CLI::ValidationError("--time-budget", "wants a duration such as 90s, 5m or 1h, not \"" + text + "\"");
  return jitrace::seconds(*value * unit);
}

void add_run(CLI::App& app, jitrace::RunOptions& options, std::string& budget, std::string& colour) {
  CLI::App* run = app.add_subcommand("run", "carry a scenario out and report its verdict");
  run->add_option("scenario", options.scenario, "the scenario, a .toml file")->required();
  run->add_option("--cache", options.overrides.cache_dirs, "directory for the caches under test; two, separated by a comma, are two clients")
      ->delimiter(',')
      ->type_name("DIR[,DIR2]");
  run->add_option("--workers", options.overrides.workers, "processes that share the cache")->check(CLI::Range(1, 2048));
  run->add_option("--trials", options.overrides.trials, "trials a cell")->check(CLI::Range(1, 1000000));
  run->add_option("--seed", options.overrides.seed, "the same scenario and seed give the same plans")->check(CLI::NonNegativeNumber);
  run->add_option("--strategy", options.overrides.strategies, "only this subject or preset; repeatable")->delimiter(',');
  run->add_option("--toolchain", options.overrides.toolchains, "nvcc, nvrtc, cxx or fake; repeatable")->delimiter(',');
  run->add_option("--nvcc", options.nvcc, "path of an nvcc; repeatable: several CUDA versions in one run");
  run->add_option("--loader", options.overrides.loader, "cuda, elf, dlopen, fake or auto");
  run->add_option("--device", options.overrides.device, "target of the elf loader (sm_90a, sm_100a)");
  run->add_option("--bound-scale", options.overrides.bound_scale, "multiplies every preset's bound on waiting");
  run->add_option("--jobs", options.jobs, "trials at the same time; 1 keeps times clean")->check(CLI::Range(1, 64))->capture_default_str();
  run->add_option("--time-budget", budget, "start no further trial after this long (90s, 5m, 1h)");
  run->add_option("--out", options.out, "run directory: plans, histories, reports (default: a new one in ./jitrace-runs)");
  run->add_option("--colour", colour, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  run->add_flag_callback("--keep", [&options] { options.keep = jitrace::Keep::always; }, "keep the caches of all trials");
  run->add_flag_callback("--allow-skips", [&options] { options.skips = jitrace::Skips::waived; },
                         "cells that this machine cannot run do not count (exit 0 rather than 2)");
  run->add_flag_callback("--dry-run", [&options] { options.dry_run = jitrace::DryRun::yes; }, "print the plans and stop");
}

jitrace::WantColour colour_of(const std::string& word) {
  if (word == "always") return jitrace::WantColour::always;
  return word == "never" ? jitrace::WantColour::never : jitrace::WantColour::automatic;
}

// CLI11 says of a command that it does not know only that there is none.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return {};
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  const auto meant = jitrace::nearest(word, names);
  return "unknown command \"" + word + "\"; " +
         (meant ? "did you mean \"" + *meant + "\"?" : "there are " + jitrace::join_text(names, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("jitrace finds, replays and measures races and crash bugs between processes that share a JIT build cache.");
  app.set_version_flag("--version", "jitrace " JITRACE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 every expectation met, 1 findings, 2 inconclusive or skipped, 64 usage or scenario error,\n"
             "69 cache or output unusable, 70 our own fault, 130/143 interrupted (the report is partial).");

  jitrace::RunOptions run;
  std::string budget, run_colour = "auto";
  add_run(app, run, budget, run_colour);

  CLI::App* list = app.add_subcommand("list", "strategies, scenarios, toolchains, loaders, faults, points");
  CLI::App* doctor = app.add_subcommand("doctor", "what this machine can test, and how to get the rest");

  jitrace::ReplayOptions replay;
  CLI::App* replay_app = app.add_subcommand("replay", "carry one plan out again and say how often it shows its finding");
  replay_app->add_option("file", replay.file, "a .plan or .history file of a run")->required();
  replay_app->add_option("--trials", replay.trials, "how often")->check(CLI::Range(1, 1000000))->capture_default_str();
  replay_app->add_option("--cache", replay.cache_dirs, "directory for the cache; two are two clients")->delimiter(',');
  replay_app->add_option("--nvcc", replay.nvcc, "path of an nvcc; repeatable");
  replay_app->add_option("--out", replay.out, "run directory");

  jitrace::ReportOptions report;
  std::string report_colour = "auto";
  CLI::App* report_app = app.add_subcommand("report", "render the reports of a run again, from its histories alone");
  report_app->add_option("run", report.run_dir, "a run directory")->required();
  report_app->add_option("--colour", report_colour, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));

  try {
    app.parse(argc, argv);
    if (!budget.empty()) run.time_budget = parse_duration(budget);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (const std::string unknown = unknown_command(app, argc, argv); !unknown.empty()) {
      std::fprintf(stderr, "%s\n", unknown.c_str());
    } else {
      app.exit(error);
    }
    return exit_with(ExitCode::usage);
  }
  run.colour = colour_of(run_colour);
  report.colour = colour_of(report_colour);
  if (list->parsed()) return exit_with(jitrace::list_command());
  if (doctor->parsed()) return exit_with(jitrace::doctor_command());
  if (replay_app->parsed()) return exit_with(jitrace::replay_command(replay));
  if (report_app->parsed()) return exit_with(jitrace::report_command(report));
  return exit_with(jitrace::run_command(run));
}
