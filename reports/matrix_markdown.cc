#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/markdown.h"
#include "reports/matrix.h"
#include "reports/matrix_groups.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

std::string cell_text(const GroupCell& cell) {
  std::string text = words_of(cell.end);
  if (is_finding(cell.end)) text = "**" + text + "**";
  if (cell.poisoned) text += ", poisoned";
  if (cell.end == SweepEnd::recovered) {
    const std::string shortest = duration(to_ms(cell.shortest)), longest = duration(to_ms(cell.longest));
    text += shortest == longest ? fmt::format(" in {}", longest) : fmt::format(" in {} to {}", shortest, longest);
  }
  return text;
}

std::string range(const MatrixGroup& group) { return for_markdown(group.from) + " .. " + for_markdown(group.to); }

std::string header(const std::vector<SweepColumn>& columns) {
  std::string names = "\n| killed | classes | points |", rule = "|---|---|---|";
  for (const SweepColumn column : columns) {
    names += fmt::format(" {} |", words_of(column));
    rule += "---|";
  }
  return names + "\n" + rule + "\n";
}

std::string row(const MatrixGroup& group, const std::vector<SweepColumn>& columns) {
  std::string line = fmt::format("| {} | {} | {} |", range(group), group.rows(), grouped_digits(group.points));
  for (const SweepColumn column : columns) {
    const auto cell = group.cells.find(column);
    line += fmt::format(" {} |", cell == group.cells.end() ? "" : cell_text(cell->second));
  }
  return line + "\n";
}

std::string finding_text(const MatrixGroup& group, const ToldFinding& finding) {
  std::string out = fmt::format("\n#### {} {}\n\n{} ({})\n\n", words_of(finding.cell->end), range(group),
                                words_of(finding.columns), counted(finding.cells, "cell", "cells"));
  if (!finding.cell->detail.empty()) out += fmt::format("- {}\n", for_markdown(finding.cell->detail));
  if (!finding.left.empty()) out += fmt::format("- left: {}\n", for_markdown(left_words(finding)));
  if (const std::string command = replay_command(*finding.cell); !command.empty()) out += "\n" + code_block(command);
  return out;
}

std::string row(const FaultGroup& group) {
  std::vector<std::string> ends;
  for (const auto& [end, times] : group.ends) {
    const std::string words = grouped_digits(times) + " " + words_of(end);
    ends.push_back(is_finding(end) ? "**" + words + "**" : words);
  }
  return fmt::format("| {} | {} | {} | {} |\n", for_markdown(group.fault), grouped_digits(group.tried),
                     counted(group.calls, "call", "calls"), join_text(ends, ", "));
}

std::string finding_text(const SweepFault& fault, std::size_t cells) {
  std::string out = fmt::format("\n#### {} {} at {}\n\n{}\n\n", words_of(fault.cell.end), for_markdown(fault.fault),
                                for_markdown(step_words(fault.step)), counted(cells, "call", "calls"));
  if (!fault.cell.detail.empty()) out += fmt::format("- {}\n", for_markdown(fault.cell.detail));
  if (const std::string command = replay_command(fault.cell); !command.empty()) out += "\n" + code_block(command);
  return out;
}

}  // namespace

std::string render_matrix_markdown(const SweepMatrix& matrix) {
  const std::vector<SweepColumn> columns = columns_of(matrix);
  const std::vector<MatrixGroup> groups = groups_of(matrix);
  std::vector<std::string> pieces = {fmt::format("## jitrace sweep {}: {}\n\n{}\n\n{}\n", for_markdown(matrix.subject),
                                                 name_of(verdict_of(matrix)), size_words(matrix),
                                                 verdict_words(matrix))};
  for (const std::string& clause : shortfalls(matrix)) {
    pieces.push_back(fmt::format("\n- not all was seen: {}\n", for_markdown(clause)));
  }
  for (const SweepUnmet& unmet : matrix.unmet.value_or(std::vector<SweepUnmet>{})) {
    pieces.push_back(fmt::format("\n- not as expected: {}\n", for_markdown(unmet_words(unmet))));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    pieces.push_back((i == 0 ? header(columns) : "") + row(groups[i], columns));
  }
  for (const MatrixGroup& group : groups) {
    for (const ToldFinding& finding : findings_of(matrix, group)) pieces.push_back(finding_text(group, finding));
  }
  for (const FaultGroup& group : fault_groups_of(matrix)) {
    pieces.push_back((group.first == 0 ? "\n| at single calls | tried | stands for | ends |\n|---|---|---|---|\n" : "") + row(group));
  }
  for (const FaultGroup& group : fault_groups_of(matrix)) {
    for (const auto& [fault, cells] : group.findings) pieces.push_back(finding_text(*fault, cells));
  }
  std::string rests = "\n#### What it rests on\n\n";
  for (const std::string& bound : bounds(matrix)) rests += fmt::format("- {}\n", bound);
  pieces.push_back(rests);
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    constexpr std::size_t room = 120;  // for the sentence that says what was left out
    if (out.size() + pieces[i].size() + room > markdown_limit) {
      return out + fmt::format("\n{} more parts do not fit here; sweep.json has them.\n", pieces.size() - i);
    }
    out += pieces[i];
  }
  return out;
}

}  // namespace jitrace
