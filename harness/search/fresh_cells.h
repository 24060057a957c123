#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/sweep_matrix.h"

namespace jitrace {

// A cell of a matrix, by its place: of a row and a column, or, without a column, of a fault.
struct CellPlace {
  std::size_t at = 0;
  std::optional<SweepColumn> column;
  friend auto operator<=>(const CellPlace&, const CellPlace&) = default;
};

// Of the cells that a zygote's processes or replayed compilers made those that are made again without them: in each
// column, and of the faults, the first finding of every run with the same end and detail, and a tenth of the rest, drawn
// by the seed.
std::vector<CellPlace> cells_to_confirm(const SweepMatrix& matrix, std::uint64_t seed);

}  // namespace jitrace
