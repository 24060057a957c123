#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "scenario/overrides.h"
#include "verdict/summarise.h"

namespace jitrace {

enum class Keep { on_findings, always };
enum class DryRun { no, yes };
enum class WantColour { automatic, always, never };

// The command line of `jitrace run`, checked for form only.
struct RunOptions {
  std::string scenario;
  Overrides overrides;
  std::vector<std::string> nvcc;
  std::string out;                 // empty: jitrace-runs/<scenario>-<n>
  Keep keep = Keep::on_findings;
  Skips skips = Skips::count;      // waived: a cell that this machine cannot run does not make the verdict inconclusive
  DryRun dry_run = DryRun::no;
  WantColour colour = WantColour::automatic;
  int jobs = 1;
  Nanoseconds time_budget = 0;     // 0: none
};

struct ReplayOptions {
  std::string file;
  std::string out;
  std::vector<std::string> cache_dirs;
  std::vector<std::string> nvcc;
  int trials = 20;
};

struct ReportOptions {
  std::string run_dir;
  WantColour colour = WantColour::automatic;
};

// What `record`, `sweep` and the replay of a traced plan share.
struct TracedOptions {
  std::vector<std::string> command;  // of sweep also one .toml file
  std::vector<std::string> cache_dirs;
  std::vector<std::string> beside;   // further paths that belong to the cache
  std::string out;
  std::uint64_t polls = 1000;
  Nanoseconds limit = seconds(600);
};

enum class EveryWrite { no, yes };

struct SweepOptions {
  TracedOptions traced;
  std::vector<std::string> preload;  // Python modules that one process imports for all trials
  Overrides overrides;               // of a scenario: strategies, toolchains
  EveryWrite every_write = EveryWrite::no;
  enum class Compilers { real, replayed } compilers = Compilers::real;
  int signal = 9;                    // what the kills are
  enum class Waiter { none, beside } waiter = Waiter::none;
  std::vector<int> errors;           // answered by each call that can return them
  enum class LostReplies { no, yes } lost_replies = LostReplies::no;
  enum class TornWrites { no, yes } torn_writes = TornWrites::no;
  std::uint64_t seed = 1;
  int jobs = 0;                      // 0: one a CPU
  Nanoseconds time_budget = 0;
  WantColour colour = WantColour::automatic;
};

}  // namespace jitrace
