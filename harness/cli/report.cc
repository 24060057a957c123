#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "cli/campaign.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/prepared.h"
#include "cli/record.h"
#include "reports/write_reports.h"

namespace jitrace {
namespace {

Result<int> read_histories(const RunDir& run_dir, Campaign& campaign) {
  TRY_ASSIGN(const std::vector<std::string> paths, run_dir.histories());
  int unread = 0;
  for (const std::string& path : paths) {
    TRY_ASSIGN(const std::string text, read_file(path));
    const auto history = History::parse(text);
    const auto plan = history ? Plan::parse(history->plan) : Result<Plan>(history.error());
    if (!plan) {
      std::fprintf(stderr, "jitrace: left out %s: %s\n", path.c_str(), plan.error().message().c_str());
      ++unread;
      continue;
    }
    TrialVerdict verdict = judge(*plan, *history);
    verdict.trial = plan->trial;
    campaign.add(plan->cell, path.substr(0, path.rfind('.')) + ".plan", std::move(verdict));
  }
  return unread;
}

}  // namespace

ExitCode report_command(const ReportOptions& options) {
  if (!exists(join(options.run_dir, "run"))) {
    return complain(make_error("read the run", options.run_dir, 0, "it is no run directory: the file \"run\" is missing"), ExitCode::usage);
  }
  // As the run named it: a path of the report must not depend on where it is rendered again.
  std::error_code code;
  const std::string path = std::filesystem::absolute(options.run_dir, code).lexically_normal();
  const RunDir run_dir(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  const auto record = load_record(run_dir);
  if (!record) return complain(record.error(), ExitCode::unusable);
  const Catalogue catalogue = make_catalogue();
  auto scenario = read_scenario(join(options.run_dir, "scenario.toml"), record->options.overrides, catalogue);
  if (!scenario) return ExitCode::usage;
  scenario->name = record->scenario;  // the file has another one here, by which a scenario without a name would be called
  Setup setup;
  Campaign campaign(*scenario, cells_of(*scenario, catalogue, record->usable), setup, run_dir, {}, record->toolchains, record->cache);
  for (const auto& [cell, reason] : record->skipped) campaign.skip(cell, reason);
  const auto unread = read_histories(run_dir, campaign);
  if (!unread) return complain(unread.error(), ExitCode::unusable);
  Report report = make_report(*scenario, *record, campaign, run_dir.path());
  // What could not be read might have been the one that failed.
  if (*unread > 0) report.verdict = std::max(report.verdict, Grade::inconclusive);
  const auto written = write_reports(report, run_dir.path());
  std::fputs(console_text(report, options.colour).c_str(), stdout);
  if (!written) return complain(written.error(), ExitCode::unusable);
  return code_of(report.verdict);
}

}  // namespace jitrace
