#pragma once

#include <string>
#include <vector>

#include "plan/sweep_matrix.h"
#include "scenario/scenario.h"

namespace jitrace {

// The entries that are for a subject, in their order.
std::vector<SweepEntry> sweeps_of(const Scenario& scenario, const std::string& subject);

// What of a matrix is not as promised, by entry for steps that are not there, then by row and column. A cell in no entry's
// range is promised to recover; of several entries the last has the word. Cells that do not apply or were not decided keep
// every promise: the latter make the verdict inconclusive by themselves.
std::vector<SweepUnmet> unmet_of(const SweepMatrix& matrix, const std::vector<SweepEntry>& entries);

}  // namespace jitrace
