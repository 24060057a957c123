#include "reports/matrix_groups.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/call_words.h"
#include "plan/recording.h"
#include "process/wait_status.h"
#include "reports/phrases.h"

namespace jitrace {
namespace {

bool alike(const SweepRow& left, const SweepRow& right) {
  return std::equal(left.cells.begin(), left.cells.end(), right.cells.begin(), right.cells.end(),
                    [](const auto& one, const auto& other) {
                      return one.first == other.first && one.second.end == other.second.end &&
                             one.second.poisoned == other.second.poisoned;
                    });
}

void add_row(MatrixGroup& group, const SweepRow& row) {
  const bool first = group.points == 0 && group.cells.empty();
  group.points += row.points;
  for (const auto& [column, cell] : row.cells) {
    GroupCell& sum = group.cells[column];
    sum.end = cell.end;
    sum.poisoned = cell.poisoned;
    sum.shortest = first ? cell.recovery : std::min(sum.shortest, cell.recovery);
    sum.longest = std::max(sum.longest, cell.recovery);
  }
}

void add_left(ToldFinding& finding, const std::string& item) {
  auto at = std::find_if(finding.left.begin(), finding.left.end(), [&](const auto& one) { return one.first == item; });
  if (at == finding.left.end()) at = finding.left.insert(at, {item, 0});
  ++at->second;
}

bool starts_before(const std::string& step) { return step.starts_with("before "); }

std::string duration_of(Nanoseconds time) { return duration(to_ms(time)); }

// "open lock O_WRONLY|O_CREAT|O_EXCL" as a person says it.
std::string spoken(const std::string& what) {
  const CallWords words(what);
  if (words.verb() != "open" || words.detail().empty()) return what;
  std::vector<std::string> telling;
  for (const char* flag : {"O_EXCL", "O_TRUNC", "O_APPEND"}) {
    if (words.has(flag)) telling.emplace_back(flag);
  }
  std::string text = fmt::format("{} {}", words.has("O_CREAT") ? "create" : "open", words.path());
  if (!telling.empty()) text += fmt::format(" ({})", join_text(telling, "|"));
  return text;
}

}  // namespace

std::vector<MatrixGroup> groups_of(const SweepMatrix& matrix) {
  std::vector<MatrixGroup> groups;
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    if (i == 0 || !alike(matrix.rows[i - 1], matrix.rows[i])) {
      groups.emplace_back().first = i;
      const std::string& step = matrix.rows[i].step;
      const bool opening = i == 0 && starts_before(step);
      groups.back().from = opening ? "before the first call"
                                   : (starts_before(step) ? "before " : "after ") + step_words(step);
      // A class ends before the change that opens the next.
      if (groups.size() > 1) groups[groups.size() - 2].to = "before " + step_words(step);
    }
    groups.back().last = i;
    add_row(groups.back(), matrix.rows[i]);
  }
  if (!groups.empty()) groups.back().to = "the end";
  return groups;
}

std::vector<ToldFinding> findings_of(const SweepMatrix& matrix, const MatrixGroup& group) {
  std::vector<ToldFinding> told;
  for (std::size_t i = group.first; i <= group.last; ++i) {
    for (const auto& [column, cell] : matrix.rows[i].cells) {
      if (!is_finding(cell.end)) continue;
      const SweepCell& found = cell;
      auto same = std::find_if(told.begin(), told.end(), [&](const ToldFinding& one) {
        return one.cell->end == found.end && one.cell->detail == found.detail;
      });
      if (same == told.end()) same = told.insert(told.end(), {&matrix.rows[i], &cell, {}, 0, {}});
      if (std::find(same->columns.begin(), same->columns.end(), column) == same->columns.end()) {
        same->columns.push_back(column);
        std::sort(same->columns.begin(), same->columns.end());
      }
      ++same->cells;
      for (const std::string& item : found.left) add_left(*same, item);
    }
  }
  return told;
}

std::vector<FaultGroup> fault_groups_of(const SweepMatrix& matrix) {
  std::vector<FaultGroup> groups;
  for (std::size_t i = 0; i < matrix.faults.size(); ++i) {
    const SweepFault& fault = matrix.faults[i];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const FaultGroup& one) { return one.fault == fault.fault; });
    if (group == groups.end()) {
      group = groups.emplace(group);
      group->fault = fault.fault;
      group->first = i;
    }
    ++group->tried;
    group->calls += fault.calls;
    ++group->ends[fault.cell.end];
    if (!is_finding(fault.cell.end)) continue;
    auto same = std::find_if(group->findings.begin(), group->findings.end(), [&](const auto& one) {
      return one.first->cell.end == fault.cell.end && one.first->cell.detail == fault.cell.detail;
    });
    if (same == group->findings.end()) same = group->findings.insert(same, {&fault, 0});
    ++same->second;
  }
  return groups;
}

MatrixCounts count(const SweepMatrix& matrix) {
  MatrixCounts counts;
  std::vector<Nanoseconds> recoveries;
  const auto add = [&](const SweepCell& cell) {
    ++counts.cells;
    ++counts.ends[cell.end];
    if (is_finding(cell.end)) ++counts.findings;
    if (cell.poisoned) ++counts.poisoned;
    if (cell.confirmed == "real") ++counts.real;
    if (cell.confirmed == "snapshot") ++counts.snapshots;
    if (cell.processes != SweepProcesses::fresh) ++counts.forked;
    if (cell.processes == SweepProcesses::confirmed) ++counts.confirmed;
    if (cell.replayed) ++counts.replayed;
    if (cell.end != SweepEnd::recovered) return;
    recoveries.push_back(cell.recovery);
    for (const std::string& left : cell.left) ++counts.left[left];
  };
  for (const SweepRow& row : matrix.rows) {
    for (const auto& [column, cell] : row.cells) add(cell);
  }
  for (const SweepFault& fault : matrix.faults) add(fault.cell);
  std::sort(recoveries.begin(), recoveries.end());
  if (!recoveries.empty()) {
    counts.median = recoveries[(recoveries.size() - 1) / 2];
    counts.longest = recoveries.back();
  }
  return counts;
}

std::vector<SweepColumn> columns_of(const SweepMatrix& matrix) {
  std::vector<SweepColumn> columns;
  for (const SweepColumn column : every_sweep_column) {
    const bool any = std::any_of(matrix.rows.begin(), matrix.rows.end(),
                                 [&](const SweepRow& row) { return row.cells.contains(column); });
    if (any) columns.push_back(column);
  }
  return columns;
}

std::string words_of(SweepColumn column) {
  switch (column) {
    case SweepColumn::tree: return "whole tree";
    case SweepColumn::builder_orphan_first: return "builder alone, orphan first";
    case SweepColumn::builder_orphan_held: return "builder alone, orphan held";
    case SweepColumn::tree_waiter: return "whole tree, one waiting";
    case SweepColumn::builder_orphan_first_waiter: return "builder alone, orphan first, one waiting";
    case SweepColumn::builder_orphan_held_waiter: return "builder alone, orphan held, one waiting";
  }
  return "?";
}

std::string words_of(const std::vector<SweepColumn>& columns) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const auto next = static_cast<SweepColumn>(static_cast<int>(columns[at]) + 1);
    const bool both = !kills_tree(columns[at]) && at + 1 < columns.size() && columns[at + 1] == next && !kills_tree(next);
    parts.push_back(both ? std::string("builder alone in both orders") + (has_waiter(next) ? ", one waiting" : "")
                         : words_of(columns[at]));
    if (both) ++at;
  }
  return join_text(parts, "; ");
}

std::string left_words(const ToldFinding& finding) {
  std::vector<std::string> parts;
  for (const auto& [item, cells] : finding.left) {
    parts.push_back(cells == finding.cells ? item : fmt::format("{} ({})", item, counted(cells, "cell", "cells")));
  }
  return join_text(parts, ", ");
}

std::string words_of(SweepEnd end) {
  switch (end) {
    case SweepEnd::recovered: return "recovered";
    case SweepEnd::hang: return "HANG";
    case SweepEnd::failed: return "FAILED";
    case SweepEnd::torn: return "TORN";
    case SweepEnd::not_applicable: return "same";
    case SweepEnd::inconclusive: return "inconclusive";
    case SweepEnd::not_run: return "not run";
  }
  return "?";
}

std::string step_words(const std::string& step) {
  const auto name = StepName::parse(step);
  if (!name) return step;
  std::string text = spoken(name->what);
  // The worker itself goes without saying.
  const std::size_t slash = name->role.rfind('/');
  if (slash != std::string::npos) text = name->role.substr(slash + 1) + ": " + text;
  if (name->occurrence > 1) text += fmt::format(" ({})", name->occurrence);
  return text;
}

std::string replay_command(const SweepCell& cell) {
  return cell.replay.empty() ? std::string() : shell_line({"jitrace", "replay", cell.replay});
}

std::string grouped_digits(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, " ");
  return text;
}

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped_digits(number), number == 1 ? one : many);
}

std::string size_words(const SweepMatrix& matrix) {
  std::size_t points = 0;
  for (const SweepRow& row : matrix.rows) points += row.points;
  const std::string with = matrix.signal == SIGKILL ? "" : fmt::format("; kills by {}", name_of_signal(matrix.signal));
  return fmt::format("{} on the cache, {}, {} in {}; {}{}", counted(matrix.calls, "call", "calls"),
                     counted(matrix.changes, "change", "changes"), counted(points, "point", "points"),
                     counted(matrix.rows.size(), "class", "classes"),
                     counted(matrix.processes, "process", "processes"), with);
}

std::vector<std::string> shortfalls(const SweepMatrix& matrix) {
  std::vector<std::string> result = matrix.mismatches;
  result.insert(result.end(), matrix.downgrades.begin(), matrix.downgrades.end());
  if (matrix.counted && !counts_agree(matrix)) {
    std::string clause = fmt::format("an independent count saw {}, the recording {}", counted(*matrix.counted, "call", "calls"),
                                     grouped_digits(matrix.calls));
    if (!matrix.miscounted.empty()) clause += " (" + matrix.miscounted.front() + (matrix.miscounted.size() > 1 ? ", …)" : ")");
    result.push_back(std::move(clause));
  }
  if (matrix.rows.empty()) result.push_back("nothing was swept: the program made no call on the cache");
  return result;
}

std::vector<std::string> bounds(const SweepMatrix& matrix) {
  const MatrixCounts counts = count(matrix);
  const auto of = [&](SweepEnd end) { return counts.ends.contains(end) ? counts.ends.at(end) : 0; };
  std::vector<std::string> lines;
  if (of(SweepEnd::hang) > 0) {
    lines.push_back(fmt::format("hangs proved to at least {:.1f} virtual hours and {}", matrix.virtual_hours,
                                counted(matrix.unchanged_polls, "unchanged poll", "unchanged polls")));
  }
  if (const std::size_t recovered = of(SweepEnd::recovered); recovered > 0) {
    lines.push_back(fmt::format("recovery p50 {}, max {}, over {}", duration_of(counts.median),
                                duration_of(counts.longest), counted(recovered, "cell", "cells")));
  }
  if (counts.real + counts.snapshots > 0) {
    lines.push_back(fmt::format("states by {} and {}", counted(counts.real, "real kill", "real kills"),
                                counted(counts.snapshots, "snapshot", "snapshots")));
  }
  if (counts.forked > 0) {
    lines.push_back(fmt::format("{} forked from one process with its imports done, {} of them confirmed in fresh ones",
                                counted(counts.forked, "cell", "cells"), grouped_digits(counts.confirmed)));
  }
  if (counts.replayed > 0) {
    lines.push_back(fmt::format("{} with replayed compilers", counted(counts.replayed, "cell", "cells")));
  }
  if (matrix.counted && counts_agree(matrix) && !matrix.rows.empty()) {
    lines.push_back(matrix.asked_again.empty()
                        ? fmt::format("an independent count saw the same {}", counted(matrix.calls, "call", "calls"))
                        : fmt::format("an independent count saw the same calls, {} where {} were recorded: {} made again until "
                                      "something comes",
                                      grouped_digits(*matrix.counted), grouped_digits(matrix.calls),
                                      counted(matrix.asked_again.size(), "is", "are")));
  }
  if (!matrix.varying.empty()) {
    constexpr std::size_t most = 3;
    const std::vector<std::string> some(matrix.varying.begin(), matrix.varying.begin() + std::min(most, matrix.varying.size()));
    lines.push_back(fmt::format("{}{} differ from one fault-free run to another: judged is only that {} there, and not empty", join_text(some, ", "),
                                matrix.varying.size() > most ? fmt::format(" and {} more", matrix.varying.size() - most) : "",
                                matrix.varying.size() == 1 ? "it is" : "they are"));
  }
  lines.push_back(fmt::format("took {}; the recorded run {}", duration_of(matrix.took), duration_of(matrix.recorded)));
  return lines;
}

std::string unmet_words(const SweepUnmet& unmet) {
  const std::string column = unmet.column ? fmt::format(" [{}]", words_of(*unmet.column)) : "";
  return fmt::format("{}{}: expected {}, seen {}", unmet.step, column, unmet.expected, unmet.seen);
}

std::string verdict_words(const SweepMatrix& matrix) {
  const MatrixCounts counts = count(matrix);
  std::vector<std::string> parts;
  for (const auto& [end, word] : {std::pair{SweepEnd::hang, "hang"}, std::pair{SweepEnd::failed, "failed"},
                                  std::pair{SweepEnd::torn, "torn"}, std::pair{SweepEnd::recovered, "recovered"},
                                  std::pair{SweepEnd::inconclusive, "inconclusive"},
                                  std::pair{SweepEnd::not_run, "not run"}}) {
    const auto found = counts.ends.find(end);
    if (found != counts.ends.end()) parts.push_back(fmt::format("{} {}", grouped_digits(found->second), word));
  }
  const std::size_t same =
      counts.ends.contains(SweepEnd::not_applicable) ? counts.ends.at(SweepEnd::not_applicable) : 0;
  std::string text = fmt::format("{}: of {}, {}", name_of(verdict_of(matrix)),
                                 counted(counts.cells - same, "cell", "cells"),
                                 parts.empty() ? "none was run" : join_text(parts, ", "));
  if (matrix.unmet) {
    text += matrix.unmet->empty() ? "; as expected"
                                  : "; " + counted(matrix.unmet->size(), "expectation", "expectations") + " not met";
  }
  const std::size_t other = matrix.mismatches.size();
  if (other > 0) text += fmt::format("; {} ended otherwise when made again", counted(other, "cell", "cells"));
  if (shortfalls(matrix).size() > other) text += "; not all was seen";
  return text;
}

}  // namespace jitrace
