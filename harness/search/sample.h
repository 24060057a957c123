#pragma once

#include <cstddef>
#include <vector>

#include "plan/cells.h"

namespace jitrace {

// Which trial of which cell comes next.
struct Pick {
  std::size_t cell = 0;  // index
  int trial = 0;         // from 1

  friend bool operator==(const Pick&, const Pick&) = default;
};

// How `run` goes through its cells: trial 1 of every cell, then trial 2, … so that strategies are compared on
// interleaved trials and a run that is cut short has seen every cell. Cells that are not applicable or skipped have none.
class Sample {
 public:
  explicit Sample(const std::vector<CellPlan>& cells);

  // Every pick, in order.
  const std::vector<Pick>& picks() const { return picks_; }

 private:
  std::vector<Pick> picks_;
};

}  // namespace jitrace
