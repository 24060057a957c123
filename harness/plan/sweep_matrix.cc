#include "plan/sweep_matrix.h"

#include <array>

namespace jitrace {
namespace {

constexpr std::array column_names =
    std::to_array<std::string_view>({"tree", "builder_orphan_first", "builder_orphan_held", "tree_waiter",
                                     "builder_orphan_first_waiter", "builder_orphan_held_waiter"});
constexpr std::array end_names = std::to_array<std::string_view>(
    {"recovered", "hang", "failed", "torn", "not_applicable", "inconclusive", "not_run"});
constexpr std::array process_names = std::to_array<std::string_view>({"fresh", "forked", "confirmed"});
constexpr std::array verdict_names = std::to_array<std::string_view>({"pass", "findings", "inconclusive"});

static_assert(column_names.size() == static_cast<std::size_t>(SweepColumn::builder_orphan_held_waiter) + 1);
static_assert(end_names.size() == static_cast<std::size_t>(SweepEnd::not_run) + 1);
static_assert(process_names.size() == static_cast<std::size_t>(SweepProcesses::confirmed) + 1);
static_assert(verdict_names.size() == static_cast<std::size_t>(SweepVerdict::inconclusive) + 1);

template <class Names, class Value>
std::string_view look_up(const Names& names, Value value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace

std::string_view name_of(SweepColumn column) { return look_up(column_names, column); }
std::string_view name_of(SweepEnd end) { return look_up(end_names, end); }
std::string_view name_of(SweepProcesses processes) { return look_up(process_names, processes); }
std::string_view name_of(SweepVerdict verdict) { return look_up(verdict_names, verdict); }

bool kills_tree(SweepColumn column) { return column == SweepColumn::tree || column == SweepColumn::tree_waiter; }
bool has_waiter(SweepColumn column) { return column >= SweepColumn::tree_waiter; }

bool is_finding(SweepEnd end) { return end == SweepEnd::hang || end == SweepEnd::failed || end == SweepEnd::torn; }

bool counts_agree(const SweepMatrix& matrix) {
  const bool same = matrix.counted.value_or(matrix.calls) == matrix.calls;
  return matrix.miscounted.empty() && (same || !matrix.asked_again.empty());
}

SweepVerdict verdict_of(const SweepMatrix& matrix) {
  bool complete = !matrix.rows.empty() && counts_agree(matrix) && matrix.downgrades.empty();
  if (!matrix.mismatches.empty()) return SweepVerdict::inconclusive;
  if (matrix.unmet && !matrix.unmet->empty()) return SweepVerdict::findings;
  for (const SweepRow& row : matrix.rows) {
    bool decided = false;  // that a class does not apply to every column it has says nothing about it
    for (const auto& [column, cell] : row.cells) {
      if (is_finding(cell.end) && !matrix.unmet) return SweepVerdict::findings;
      if (cell.end == SweepEnd::inconclusive || cell.end == SweepEnd::not_run) complete = false;
      decided = decided || cell.end == SweepEnd::recovered || is_finding(cell.end);
    }
    complete = complete && decided;
  }
  for (const SweepFault& fault : matrix.faults) {
    if (is_finding(fault.cell.end) && !matrix.unmet) return SweepVerdict::findings;
    if (fault.cell.end == SweepEnd::inconclusive || fault.cell.end == SweepEnd::not_run) complete = false;
  }
  return complete ? SweepVerdict::pass : SweepVerdict::inconclusive;
}

}  // namespace jitrace
