#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/matrix.h"
#include "reports/matrix_groups.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

std::string lines_xml(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += for_xml(line) + "\n";
  return text;
}

std::string element(std::string_view tag, std::string_view message, std::string_view type, const std::string& body) {
  return fmt::format("      <{} message=\"{}\" type=\"{}\">{}</{}>\n", tag, for_xml(message), type, body, tag);
}

std::string skipped(std::string_view message) {
  return fmt::format("      <skipped message=\"{}\"/>\n", for_xml(message));
}

std::string body_of(const std::string& stands_for, const SweepCell& cell) {
  std::vector<std::string> lines = {fmt::format("{}; stands for {}", words_of(cell.end), stands_for)};
  if (cell.end == SweepEnd::recovered) lines.push_back("recovery " + duration(to_ms(cell.recovery)));
  if (!cell.detail.empty()) lines.push_back(cell.detail);
  if (cell.poisoned) lines.push_back("a process later fares no better");
  for (const std::string& left : cell.left) lines.push_back("left: " + left);
  if (!cell.confirmed.empty()) lines.push_back("state by: " + cell.confirmed);
  if (cell.processes != SweepProcesses::fresh) lines.push_back("processes: " + std::string(name_of(cell.processes)));
  if (cell.replayed) lines.push_back("with replayed compilers");
  if (const std::string command = replay_command(cell); !command.empty()) lines.push_back("replay: " + command);
  return lines_xml(lines);
}

std::string result_of(const std::string& stands_for, const SweepCell& cell, const SweepMatrix& matrix, const SweepUnmet* unmet) {
  if (unmet != nullptr) return element("failure", unmet_words(*unmet), name_of(cell.end), body_of(stands_for, cell));
  if (matrix.unmet && is_finding(cell.end)) return fmt::format("      <system-out>{}</system-out>\n", body_of(stands_for, cell));
  const std::string message = words_of(cell.end) + (cell.detail.empty() ? "" : ": " + cell.detail);
  switch (cell.end) {
    case SweepEnd::recovered: return fmt::format("      <system-out>{}</system-out>\n", body_of(stands_for, cell));
    case SweepEnd::hang:
    case SweepEnd::failed:
    case SweepEnd::torn: return element("failure", message, name_of(cell.end), body_of(stands_for, cell));
    case SweepEnd::inconclusive: return element("error", message, name_of(cell.end), body_of(stands_for, cell));
    case SweepEnd::not_applicable: return skipped("nothing outlives the builder here: same as the whole tree");
    case SweepEnd::not_run: return skipped(cell.detail.empty() ? "the budget was spent before" : message);
  }
  return "";
}

std::string case_xml(std::string_view name, double seconds, const std::string& result) {
  return fmt::format("    <testcase name=\"{}\" classname=\"jitrace.sweep\" time=\"{:.3f}\">\n{}    </testcase>\n",
                     for_xml(name), seconds, result);
}

const SweepUnmet* find_unmet(const SweepMatrix& matrix, std::size_t row, SweepColumn column) {
  if (!matrix.unmet) return nullptr;
  for (const SweepUnmet& unmet : *matrix.unmet) {
    if (unmet.row == row && unmet.column == column) return &unmet;
  }
  return nullptr;
}

const SweepUnmet* find_unmet(const SweepMatrix& matrix, std::size_t fault) {
  if (!matrix.unmet) return nullptr;
  for (const SweepUnmet& unmet : *matrix.unmet) {
    if (unmet.fault == fault) return &unmet;
  }
  return nullptr;
}

double seconds_of(const SweepCell& cell) {
  return cell.end == SweepEnd::recovered ? std::max(0.0, to_ms(cell.recovery) / 1000) : 0;
}

}  // namespace

std::string render_matrix_junit(const SweepMatrix& matrix) {
  const MatrixCounts counts = count(matrix);
  const auto of = [&](SweepEnd end) { return counts.ends.contains(end) ? counts.ends.at(end) : 0; };
  const std::vector<std::string> missing = shortfalls(matrix);
  std::string cases = case_xml("every call was followed and counted", 0,
                               missing.empty() ? fmt::format("      <system-out>{}</system-out>\n",
                                                             for_xml(size_words(matrix)))
                                               : element("error", missing.front(), "inconclusive", lines_xml(missing)));
  std::size_t steps = 0;  // promises of a step that is not there: a case each
  for (const SweepUnmet& unmet : matrix.unmet.value_or(std::vector<SweepUnmet>{})) {
    if (unmet.row || unmet.fault) continue;
    ++steps;
    cases += case_xml(unmet.step, 0, element("failure", unmet_words(unmet), "no_such_step", ""));
  }
  double total = 0;
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const SweepRow& row = matrix.rows[i];
    for (const auto& [column, cell] : row.cells) {
      cases += case_xml(fmt::format("{} [{}]", row.step, words_of(column)), seconds_of(cell),
                        result_of(counted(row.points, "point", "points"), cell, matrix, find_unmet(matrix, i, column)));
      total += seconds_of(cell);
    }
  }
  for (std::size_t i = 0; i < matrix.faults.size(); ++i) {
    const SweepFault& fault = matrix.faults[i];
    cases += case_xml(fmt::format("{} [{}]", fault.step, fault.fault), seconds_of(fault.cell),
                      result_of(counted(fault.calls, "call", "calls"), fault.cell, matrix, find_unmet(matrix, i)));
    total += seconds_of(fault.cell);
  }
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", counts.cells + 1 + steps,
                  matrix.unmet ? matrix.unmet->size() : counts.findings,
                  of(SweepEnd::inconclusive) + (missing.empty() ? 0 : 1));
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"jitrace\" {} time=\"{:.3f}\">\n", numbers, total);
  out += fmt::format("  <testsuite name=\"sweep\" {} skipped=\"{}\" time=\"{:.3f}\">\n    <properties>\n", numbers,
                     of(SweepEnd::not_applicable) + of(SweepEnd::not_run), total);
  const auto property = [&](std::string_view name, std::string_view value) {
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", for_xml(name), for_xml(value));
  };
  property("subject", matrix.subject);
  property("verdict", name_of(verdict_of(matrix)));
  for (const auto& [name, value] : matrix.machine) property(name, value);
  return out + "    </properties>\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace jitrace
