#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/campaign.h"
#include "cli/options.h"
#include "cli/run_dir.h"
#include "reports/console.h"
#include "scenario/scenario.h"
#include "verdict/cell.h"

namespace jitrace {

// What a run knew that its histories do not say; kept beside them, so that reports can be rendered again.
struct Record {
  std::string scenario;
  RunOptions options;
  std::vector<Toolchain> toolchains;
  Usable usable;
  std::map<std::string, std::string> machine;
  CacheInfo cache;
  std::string kernel_dir;
  std::map<std::string, std::string> skipped;  // cell → why, as far as the run found it out
  bool interrupted = false;
};

Result<void> save_record(const RunDir& run_dir, const Record& record, const std::string& scenario_path);
Result<Record> load_record(const RunDir& run_dir);

// Prints every error of the file and of the overrides; nothing if there was one.
std::optional<Scenario> read_scenario(const std::string& path, const Overrides& overrides, const Catalogue& catalogue);

Report make_report(const Scenario& scenario, const Record& record, const Campaign& campaign, const std::string& out);
std::unique_ptr<Progress> make_progress();
// NO_COLOR and whether standard output is a terminal decide where the user did not.
Colour colour_for(WantColour wanted);
std::string console_text(const Report& report, WantColour colour);

}  // namespace jitrace
