#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenario/expectation.h"
#include "verdict/cell.h"

namespace jitrace {

// What a cell says of itself that no history holds.
struct CellFacts {
  std::string run;                     // empty: read from the preset and the toolchain of the plan
  std::string toolchain;               // with its version: "nvcc 13.0.88"; empty: the plan's name
  CacheInfo cache;
  std::string cause;                   // empty: the plan's
  std::map<int, std::string> replay;   // trial → the command that replays it, for those whose plan was kept
  std::vector<std::string> notes;      // what could not be tested here, and why
};

// A cell is conclusive only if at least this share of its trials is, and one at least. Fewer, and it is inconclusive
// whatever the others showed, unless they broke a promise: a fault that rarely fires proves nothing when it does not.
inline constexpr double least_conclusive = 0.75;

// Counts over all trials of a cell: `outcomes`, `findings`, `builds` and the faults over all of them, also over those
// that are inconclusive (what was seen was seen); recovery times and `recovered` over the conclusive ones.
Cell summarise(const Plan& first_plan, const std::vector<TrialVerdict>& trials, const CellFacts& facts);
// A cell that was not run, with the reason.
Cell skipped_cell(const Plan& plan, const std::string& reason, const CellFacts& facts);
// One whose turn never came.
Cell unreached_cell(const Plan& plan, const CellFacts& facts);

// Holds the cell against what was promised of it: fills `expected`, `unmet`, `met` and `verdict`.
// `always`, `recovered`, `fell_back` and bounds are asked of every conclusive trial; `never` of every trial;
// `sometimes` of at least one. Without any clause a cell passes if nothing was found.
void evaluate(Cell& cell, const Expectation& expectation);

// The worst of the cells: fail before inconclusive before pass. One that was skipped, or no cell at all, is inconclusive.
// With Skips::waived those are left out; where nothing else is, the answer stays inconclusive.
enum class Skips { count, waived };
Grade grade_of(const std::vector<Cell>& cells, Skips skips = Skips::count);

}  // namespace jitrace
