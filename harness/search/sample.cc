#include "search/sample.h"

#include <algorithm>

namespace jitrace {

Sample::Sample(const std::vector<CellPlan>& cells) {
  int most = 0;
  const auto runs = [](const CellPlan& cell) { return cell.not_applicable.empty() && cell.skipped.empty(); };
  for (const CellPlan& cell : cells) {
    if (runs(cell)) most = std::max(most, cell.trials);
  }
  for (int trial = 1; trial <= most; ++trial) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (runs(cells[i]) && trial <= cells[i].trials) picks_.push_back({i, trial});
    }
  }
}

}  // namespace jitrace
