#pragma once

#include "plan/cells.h"

namespace jitrace {

// All entries of the scenario that match the cell, laid over each other in the file's order.
Expectation expectation_of(const Scenario& scenario, const CellPlan& cell);

}  // namespace jitrace
