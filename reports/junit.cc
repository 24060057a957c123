#include "reports/junit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

// The time that the cell's trials say of themselves; wall time is no property of a history.
double seconds_of(const Cell& cell) {
  double total = 0;
  for (const TrialVerdict& trial : cell.judged) {
    if (trial.recovery.all_served) total += to_ms(*trial.recovery.all_served) / 1000;
  }
  return total;
}

std::string body_of(const Cell& cell) {
  std::vector<std::string> lines = {fault_title(cell), setting(cell), headline(cell)};
  if (const std::string times = recovery_words(cell); !times.empty()) lines.push_back(times);
  for (const std::string& clause : cell.expected) lines.push_back("expected: " + clause);
  for (const std::string& clause : cell.unmet) lines.push_back("not met: " + clause);
  for (const auto& [reason, times] : cell.inconclusive_reasons) {
    lines.push_back(fmt::format("inconclusive {} of {}: {}", times, cell.trials, reason));
  }
  for (const Finding& finding : cell.examples) {
    lines.push_back(fmt::format("{} in trial {}: {}", name_of(finding.kind), finding.trial, finding.cause));
    for (const std::string& evidence : finding.evidence) lines.push_back("  " + evidence);
  }
  if (!cell.replay.empty()) lines.push_back("replay: " + cell.replay);
  std::string text;
  for (const std::string& line : lines) text += for_xml(line) + "\n";
  return text;
}

std::string case_xml(const Report& report, const Cell& cell) {
  std::string out = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"", for_xml(cell.id),
                                for_xml("jitrace." + report.scenario), seconds_of(cell));
  if (cell.skipped)
    return out + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", for_xml(*cell.skipped));
  out += ">\n";
  if (cell.verdict == Grade::fail) {
    const std::string first = cell.unmet.empty() ? headline(cell) : cell.unmet.front();
    out += fmt::format("      <failure message=\"{}\" type=\"findings\">{}</failure>\n", for_xml(first), body_of(cell));
  } else if (cell.verdict == Grade::inconclusive) {
    const std::string first =
        cell.inconclusive_reasons.empty() ? "inconclusive" : cell.inconclusive_reasons.begin()->first;
    out += fmt::format("      <error message=\"{}\" type=\"inconclusive\">{}</error>\n", for_xml(first), body_of(cell));
  } else {
    out += fmt::format("      <system-out>{}</system-out>\n", body_of(cell));
  }
  return out + "    </testcase>\n";
}

}  // namespace

std::string render_junit(const Report& report) {
  const Counts counts = count(report);
  double total = 0;
  for (const Cell& cell : report.cells) total += seconds_of(cell);
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", counts.cells, counts.failed,
                                          counts.inconclusive);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"jitrace\" {} time=\"{:.3f}\">\n", numbers, total);
  out += fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\" time=\"{:.3f}\">\n", for_xml(report.scenario), numbers,
                     counts.skipped, total);
  out += "    <properties>\n";
  for (const auto& [name, value] : report.machine) {
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", for_xml(name), for_xml(value));
  }
  out += fmt::format("      <property name=\"cache\" value=\"{}\"/>\n", for_xml(cache_words(report)));
  out += fmt::format("      <property name=\"seed\" value=\"{}\"/>\n", report.seed);
  out += "    </properties>\n";
  for (const Cell& cell : report.cells) out += case_xml(report, cell);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace jitrace
