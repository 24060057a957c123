#include "reports/annotations.h"

#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

std::string command(std::string_view level, const Report& report, const Cell& cell) {
  std::vector<std::string> lines = cell.unmet;
  if (lines.empty()) lines.push_back(headline(cell));
  for (const auto& [reason, times] : cell.inconclusive_reasons) lines.push_back(reason);
  if (!cell.replay.empty()) lines.push_back("replay: " + cell.replay);
  return fmt::format("::{} title={}::{}", level, for_command_property("jitrace " + report.scenario + ": " + cell.id),
                     for_command_data(join_text(lines, "\n")));
}

}  // namespace

std::vector<std::string> github_annotations(const Report& report) {
  std::vector<std::string> all;
  for (const Grade grade : {Grade::fail, Grade::inconclusive}) {
    for (const Cell& cell : report.cells) {
      if (cell.skipped || cell.verdict != grade) continue;
      all.push_back(command(grade == Grade::fail ? "error" : "warning", report, cell));
    }
  }
  if (all.size() <= most_annotations) return all;
  const std::size_t more = all.size() - (most_annotations - 1);
  all.resize(most_annotations - 1);
  all.push_back(fmt::format("::error title={}::{} more cells are not met or inconclusive; report.json has them",
                            for_command_property("jitrace " + report.scenario), more));
  return all;
}

}  // namespace jitrace
