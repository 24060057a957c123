#include "search/fresh_cells.h"

#include <algorithm>

#include "search/sweep_plans.h"

namespace jitrace {
namespace {

bool had_stand_ins(const SweepCell& cell) { return cell.processes == SweepProcesses::forked || cell.replayed; }

}  // namespace

std::vector<CellPlace> cells_to_confirm(const SweepMatrix& matrix, std::uint64_t seed) {
  std::vector<CellPlace> chosen, rest;
  const SweepCell* before = nullptr;  // in the same column
  const auto look_at = [&](const SweepCell& cell, CellPlace place) {
    if (had_stand_ins(cell)) {
      const bool told = before != nullptr && had_stand_ins(*before) && before->end == cell.end && before->detail == cell.detail;
      (is_finding(cell.end) && !told ? chosen : rest).push_back(place);
    }
    before = &cell;
  };
  for (const SweepColumn column : every_sweep_column) {
    before = nullptr;
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
      const auto cell = matrix.rows[row].cells.find(column);
      if (cell != matrix.rows[row].cells.end()) look_at(cell->second, {row, column});
    }
  }
  before = nullptr;
  for (std::size_t i = 0; i < matrix.faults.size(); ++i) look_at(matrix.faults[i].cell, {i, std::nullopt});
  for (const std::size_t drawn : rows_to_confirm(rest.size(), seed)) chosen.push_back(rest[drawn]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace jitrace
