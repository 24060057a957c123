#pragma once

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

}  // namespace jitrace
