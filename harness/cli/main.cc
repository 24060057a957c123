#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "plan/trace_plan.h"
#include "process/wait_status.h"
#include "search/fault_points.h"

namespace {

using jitrace::ExitCode;

int exit_with(ExitCode code) { return static_cast<int>(code); }

// Signals that end a program which does nothing about them.
int ending_signal(const std::string& name) {
  const auto number = jitrace::parse_signal(name);
  if (!number) throw CLI::ValidationError("--signal", "\"" + name + "\" is no signal");
  for (const int other : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH}) {
    if (*number == other) throw CLI::ValidationError("--signal", jitrace::name_of_signal(other) + " ends nobody");
  }
  return *number;
}

std::vector<int> errors_of(const std::vector<std::string>& names) {
  const std::vector<std::string> known = jitrace::sweepable_errors();
  std::vector<int> errors;
  for (const std::string& name : names.size() == 1 && names[0] == "all" ? known : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw CLI::ValidationError("--errno", "\"" + name + "\" is none of all, " + jitrace::join_text(known, ", "));
    }
    errors.push_back(jitrace::parse_errno(name).value());
  }
  return errors;
}

// CLI11 takes a number that is too large for the largest there is.
std::string why_no_seed(const std::string& text) {
  const auto number = jitrace::parse_int(text);
  return number && *number >= 0 ? std::string() : "\"" + text + "\" is not within 0 to 9223372036854775807";
}

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
  run->add_option("--seed", options.overrides.seed, "the same scenario and seed give the same plans")->check(why_no_seed);
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

// `--` ends the flags: what follows is the program with its own.
void add_traced(CLI::App& app, jitrace::TracedOptions& options) {
  app.add_option("command", options.command,
                 "after --: the program and its arguments; {cache} {worker} {key} {out} are replaced in them")
      ->required();
  app.add_option("--cache", options.cache_dirs, "directory for the cache under test")->type_name("DIR")->expected(1)->allow_extra_args(false);
  app.add_option("--beside", options.beside, "a file or directory outside of the cache that belongs to it; repeatable")
      ->allow_extra_args(false);
  app.add_option("--polls", options.polls, "wake-ups without a change before a poller is called hung; an eighth where each starts processes")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
  app.add_option("--out", options.out, "run directory (default: a new one in ./jitrace-runs)");
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

  jitrace::TracedOptions record;
  CLI::App* record_app = app.add_subcommand("record", "what a program does to its cache and locks, call by call");
  add_traced(*record_app, record);

  jitrace::SweepOptions sweep;
  std::string sweep_budget, sweep_colour = "auto", signal_name = "KILL";
  std::vector<std::string> error_names;
  CLI::App* sweep_app = app.add_subcommand("sweep", "kill a program at every point where its cache or its locks change");
  add_traced(*sweep_app, sweep.traced);
  sweep_app->get_option("command")->description("a scenario, a .toml file, whose subjects are swept and whose [[sweep]] is held against it; or after --: "
                                                "the program and its arguments; {cache} {worker} {key} {out} are replaced in them");
  std::string preload;  // not a list: CLI11 would take `--` for its end, and flags of the command for ours
  sweep_app->add_option("--preload", preload,
                        "of a python3 SCRIPT: modules that one process imports once, and forks for each trial")
      ->type_name("MODULE[,MODULE]");
  sweep_app->add_flag_callback("--all-writes", [&sweep] { sweep.every_write = jitrace::EveryWrite::yes; },
                               "each write of a run of writes, not only its first, middle and last");
  sweep_app->add_flag_callback("--replay-compiler", [&sweep] { sweep.compilers = jitrace::SweepOptions::Compilers::replayed; },
                               "replay compilers, assemblers and linkers whose inputs are those of a run before; findings "
                               "are confirmed with the real ones");
  sweep_app->add_option("--signal", signal_name, "what the kills are: KILL (default), TERM, INT, …")->type_name("NAME");
  sweep_app->add_flag_callback("--waiters", [&sweep] { sweep.waiter = jitrace::SweepOptions::Waiter::beside; },
                               "each kill also while another one waits for the builder already");
  sweep_app->add_flag_callback("--torn-writes", [&sweep] { sweep.torn_writes = jitrace::SweepOptions::TornWrites::yes; },
                               "kills in the middle of a write, too: half of it done, and all but the last byte");
  sweep_app->add_option("--errno", error_names, "each call that can return it answers it once: ENOSPC,EIO,…; or all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME[,NAME]");
  sweep_app->add_flag_callback("--lost-replies", [&sweep] { sweep.lost_replies = jitrace::SweepOptions::LostReplies::yes; },
                               "rename, link, mkdir, unlink and O_EXCL done, yet answered with an error, as by NFS");
  sweep_app->add_option("--strategy", sweep.overrides.strategies, "of a scenario, only this subject or preset; repeatable")
      ->delimiter(',')
      ->allow_extra_args(false);
  sweep_app->add_option("--toolchain", sweep.overrides.toolchains, "for the presets of a scenario: nvcc, nvrtc, cxx or fake")
      ->allow_extra_args(false);
  sweep_app->add_option("--seed", sweep.seed, "draws the tenth of the clean points that is confirmed by real kills")
      ->check(why_no_seed);
  sweep_app->add_option("--jobs", sweep.jobs, "lanes side by side (default: one a CPU)")->check(CLI::Range(1, 64));
  sweep_app->add_option("--time-budget", sweep_budget, "begin no further part after this long (90s, 5m, 1h)");
  sweep_app->add_option("--colour", sweep_colour, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));

  jitrace::ReportOptions report;
  std::string report_colour = "auto";
  CLI::App* report_app = app.add_subcommand("report", "render the reports of a run again, from its histories alone");
  report_app->add_option("run", report.run_dir, "a run directory")->required();
  report_app->add_option("--colour", report_colour, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));

  try {
    app.parse(argc, argv);
    if (!budget.empty()) run.time_budget = parse_duration(budget);
    sweep.signal = ending_signal(signal_name);
    sweep.errors = errors_of(error_names);
    if (!sweep_budget.empty()) sweep.time_budget = parse_duration(sweep_budget);
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
  sweep.colour = colour_of(sweep_colour);
  if (sweep_app->count("--preload") > 0) sweep.preload = jitrace::split(preload, ',');
  if (sweep_app->count("--preload") > 0 && preload.empty()) sweep.preload = {""};  // is refused, not forgotten
  if (record_app->parsed()) return exit_with(jitrace::record_command(record));
  if (sweep_app->parsed()) return exit_with(jitrace::sweep_command(sweep));
  if (list->parsed()) return exit_with(jitrace::list_command());
  if (doctor->parsed()) return exit_with(jitrace::doctor_command());
  if (replay_app->parsed()) return exit_with(jitrace::replay_command(replay));
  if (report_app->parsed()) return exit_with(jitrace::report_command(report));
  return exit_with(jitrace::run_command(run));
}
