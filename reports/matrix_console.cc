#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/escape.h"
#include "reports/matrix.h"
#include "reports/matrix_groups.h"
#include "reports/page.h"
#include "reports/phrases.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

Ink ink_of(SweepEnd end) {
  if (is_finding(end)) return Ink::bad;
  if (end == SweepEnd::recovered) return Ink::good;
  return end == SweepEnd::not_applicable ? Ink::dim : Ink::bold;
}

class MatrixConsole {
 public:
  MatrixConsole(const SweepMatrix& matrix, const ConsoleOptions& options)
      : matrix_(matrix), page_(options), groups_(groups_of(matrix)), columns_(columns_of(matrix)),
        fault_groups_(fault_groups_of(matrix)) {}

  std::string text() {
    title();
    table();
    fault_table();
    findings();
    left();
    shortfall();
    unfinished();
    unmet();
    end();
    return page_.take();
  }

 private:
  void title() {
    page_.paragraph("", matrix_.subject.empty() ? "sweep" : "sweep: " + matrix_.subject, Ink::bold);
    page_.paragraph("  ", size_words(matrix_));
    if (!matrix_.cache.empty()) {
      page_.paragraph("  ", fmt::format("cache {}{}", matrix_.cache,
                                        matrix_.file_system.empty() ? "" : " on " + matrix_.file_system));
    }
    if (!matrix_.beside.empty()) page_.paragraph("  ", "and with it " + join_text(matrix_.beside, ", "));
  }

  static std::size_t label_width(std::size_t columns, std::size_t width) { return width - columns * (1 + cell_width); }

  // `cells` behind `label`, without spaces at the end.
  void table_line(std::string_view label, const std::vector<std::pair<std::string, Ink>>& cells) {
    std::size_t filled = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) filled = cells[i].first.empty() ? filled : i + 1;
    std::string line = fit(label, label_width(cells.size(), page_.width()), filled > 0 ? Fill::yes : Fill::no);
    for (std::size_t i = 0; i < filled; ++i) {
      const std::string text = fit(cells[i].first, cell_width, i + 1 < filled ? Fill::yes : Fill::no);
      // Spaces stay outside of the colour.
      const std::size_t words = text.find_last_not_of(' ') + 1;
      line += " " + page_.ink(text.substr(0, words), words > 0 ? cells[i].second : Ink::plain) + text.substr(words);
    }
    page_.line(line);
  }

  void header(const std::vector<SweepColumn>& columns) {
    std::vector<std::pair<std::string, Ink>> above, below;
    bool said = false, second = false;
    for (const SweepColumn column : columns) {
      const bool tree = kills_tree(column);
      const bool first = column == SweepColumn::builder_orphan_first || column == SweepColumn::builder_orphan_first_waiter;
      above.emplace_back(tree ? "whole tree" : said ? "" : "builder alone", Ink::bold);
      below.emplace_back(tree ? "" : first ? "orphan first" : "orphan held", Ink::bold);
      said = said || !tree;
      second = second || !tree;
    }
    table_line(!columns.empty() && has_waiter(columns.front()) ? "killed while another one waits" : "killed", above);
    if (second) table_line("", below);
  }

  // What stands under the word: how fast, or that it stays so.
  static std::string below(const GroupCell& cell) {
    if (cell.poisoned) return "poisoned";
    if (cell.end != SweepEnd::recovered) return "";
    const std::string shortest = duration(to_ms(cell.shortest)), longest = duration(to_ms(cell.longest));
    return (shortest == longest ? "in " : "max ") + longest;
  }

  void table() {
    if (groups_.empty()) {
      page_.line("");
      return page_.line("nothing was swept");
    }
    std::vector<SweepColumn> alone, beside;
    for (const SweepColumn column : columns_) (has_waiter(column) ? beside : alone).push_back(column);
    if (!alone.empty() || beside.empty()) table_of(alone);
    if (!beside.empty()) table_of(beside);
  }

  void table_of(const std::vector<SweepColumn>& columns) {
    page_.line("");
    header(columns);
    for (const MatrixGroup& group : groups_) {
      std::vector<std::string> labels = wrap(for_terminal(fmt::format("{} .. {}", group.from, group.to)),
                                             label_width(columns.size(), page_.width()) - hanging);
      labels.push_back(fmt::format("{}, {}", counted(group.rows(), "class", "classes"),
                                   counted(group.points, "point", "points")));
      for (std::size_t i = 0; i < labels.size(); ++i) {
        std::vector<std::pair<std::string, Ink>> cells;
        for (const SweepColumn column : columns) {
          const auto cell = group.cells.find(column);
          std::string text;
          if (cell != group.cells.end() && i == 0) text = words_of(cell->second.end);
          if (cell != group.cells.end() && i == 1) text = below(cell->second);
          cells.emplace_back(text, i == 0 && cell != group.cells.end() ? ink_of(cell->second.end) : Ink::dim);
        }
        table_line(i == 0 ? labels[i] : std::string(hanging, ' ') + labels[i], cells);
      }
    }
  }

  // Faults at single calls: how many of them ended how.
  void fault_table() {
    if (fault_groups_.empty()) return;
    std::vector<SweepEnd> ends;
    for (int i = 0; i <= static_cast<int>(SweepEnd::not_run); ++i) {
      const auto end = static_cast<SweepEnd>(i);
      const bool any = std::any_of(fault_groups_.begin(), fault_groups_.end(),
                                   [end](const FaultGroup& group) { return group.ends.contains(end); });
      if (any && ends.size() < most_ends) ends.push_back(end);  // what is left over is told below
    }
    page_.line("");
    std::vector<std::pair<std::string, Ink>> head;
    for (const SweepEnd end : ends) head.emplace_back(words_of(end), Ink::bold);
    table_line("at single calls", head);
    for (const FaultGroup& group : fault_groups_) {
      std::vector<std::pair<std::string, Ink>> cells;
      for (const SweepEnd end : ends) {
        const auto found = group.ends.find(end);
        cells.emplace_back(found == group.ends.end() ? "-" : grouped_digits(found->second),
                           found == group.ends.end() ? Ink::dim : ink_of(end));
      }
      table_line(group.fault, cells);
      table_line(fmt::format("  at {} of {}", grouped_digits(group.tried), counted(group.calls, "call", "calls")), {});
    }
  }

  void findings() {
    std::size_t told = 0, held_back = 0;
    for (const MatrixGroup& group : groups_) {
      std::size_t in_group = 0;
      for (const ToldFinding& finding : findings_of(matrix_, group)) {
        if (told >= most_findings || in_group >= most_of_a_group) {
          ++held_back;
          continue;
        }
        if (told == 0) page_.heading("Findings, the first of each kind");
        tell(group, finding);
        ++told;
        ++in_group;
      }
    }
    for (const FaultGroup& group : fault_groups_) {
      std::size_t in_group = 0;
      for (const auto& [fault, cells] : group.findings) {
        if (told >= most_findings || in_group >= most_of_a_group) {
          ++held_back;
          continue;
        }
        if (told == 0) page_.heading("Findings, the first of each kind");
        tell(*fault, cells);
        ++told;
        ++in_group;
      }
    }
    if (held_back > 0) page_.line(fmt::format("  and {} more in sweep.json", held_back), Ink::dim);
  }

  void tell(const SweepFault& fault, std::size_t cells) {
    page_.paragraph("  ", fmt::format("{} {} at {} ({})", words_of(fault.cell.end), fault.fault, step_words(fault.step),
                                      counted(cells, "call", "calls")));
    if (!fault.cell.detail.empty()) page_.paragraph("      ", fault.cell.detail, Ink::dim);
    if (!fault.cell.left.empty()) page_.paragraph("      ", "left: " + join_text(fault.cell.left, ", "), Ink::dim);
    if (const std::string command = replay_command(fault.cell); !command.empty()) page_.command("    ", command);
  }

  void tell(const MatrixGroup& group, const ToldFinding& finding) {
    page_.paragraph("  ", fmt::format("{} {} .. {}: {} ({})", words_of(finding.cell->end), group.from, group.to,
                                      words_of(finding.columns), counted(finding.cells, "cell", "cells")));
    if (!finding.cell->detail.empty()) page_.paragraph("      ", finding.cell->detail, Ink::dim);
    if (!finding.left.empty()) page_.paragraph("      ", "left: " + left_words(finding), Ink::dim);
    if (finding.cell->poisoned) page_.paragraph("      ", "a process later fares no better", Ink::dim);
    if (const std::string command = replay_command(*finding.cell); !command.empty()) page_.command("    ", command);
  }

  void left() {
    const auto all = count(matrix_).left;
    if (all.empty()) return;
    page_.heading("Left behind, though the next was served");
    std::vector<std::pair<std::string, std::size_t>> items(all.begin(), all.end());
    std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min(most_left, items.size()); ++i) {
      page_.paragraph("  ", fmt::format("{} ({})", items[i].first, counted(items[i].second, "cell", "cells")));
    }
    if (items.size() > most_left) {
      page_.line(fmt::format("  and {} more in sweep.json", items.size() - most_left), Ink::dim);
    }
  }

  void shortfall() {
    const std::vector<std::string> clauses = shortfalls(matrix_);
    if (clauses.empty()) return;
    page_.heading("Not followed or not counted");
    for (const std::string& clause : clauses) page_.paragraph("  ", clause, Ink::bold);
  }

  // Cells that say nothing yet, by reason.
  void unfinished() {
    std::vector<std::pair<std::string, std::size_t>> reasons;
    const auto add = [&reasons](const SweepCell& cell) {
      if (cell.end != SweepEnd::inconclusive && cell.end != SweepEnd::not_run) return;
      std::string reason = words_of(cell.end);
      if (!cell.detail.empty()) reason += ": " + cell.detail;
      auto at = std::find_if(reasons.begin(), reasons.end(), [&](const auto& one) { return one.first == reason; });
      if (at == reasons.end()) at = reasons.insert(at, {reason, 0});
      ++at->second;
    };
    for (const SweepRow& row : matrix_.rows) {
      for (const auto& [column, cell] : row.cells) add(cell);
    }
    for (const SweepFault& fault : matrix_.faults) add(fault.cell);
    if (!reasons.empty()) page_.heading("Not decided");
    for (std::size_t i = 0; i < std::min(most_left, reasons.size()); ++i) {
      page_.paragraph("  ", fmt::format("{}, {}", counted(reasons[i].second, "cell", "cells"), reasons[i].first));
    }
    if (reasons.size() > most_left) {
      page_.line(fmt::format("  and {} more reasons in sweep.json", reasons.size() - most_left), Ink::dim);
    }
  }

  void unmet() {
    if (!matrix_.unmet || matrix_.unmet->empty()) return;
    page_.heading("Expected otherwise");
    for (const SweepUnmet& one : *matrix_.unmet) page_.paragraph("  ", unmet_words(one), Ink::bad);
  }

  void end() {
    page_.line("");
    for (const std::string& bound : bounds(matrix_)) page_.paragraph("", bound);
    const SweepVerdict verdict = verdict_of(matrix_);
    page_.paragraph("", verdict_words(matrix_),
                    verdict == SweepVerdict::pass       ? Ink::good
                    : verdict == SweepVerdict::findings ? Ink::bad
                                                        : Ink::bold);
  }

  static constexpr std::size_t cell_width = 13;
  static constexpr std::size_t hanging = 2;
  static constexpr std::size_t most_ends = 4;
  static constexpr std::size_t most_findings = 12, most_of_a_group = 3, most_left = 8;
  const SweepMatrix& matrix_;
  Page page_;
  std::vector<MatrixGroup> groups_;
  std::vector<SweepColumn> columns_;
  std::vector<FaultGroup> fault_groups_;
};

}  // namespace

std::string render_matrix_console(const SweepMatrix& matrix, const ConsoleOptions& options) {
  return MatrixConsole(matrix, options).text();
}

}  // namespace jitrace
