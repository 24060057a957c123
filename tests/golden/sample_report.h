#pragma once

#include "verdict/cell.h"

namespace jitrace {

// One report that has everything in it once: met, not met, inconclusive, skipped, free mode with its rates, long ids, and
// text from subjects that means harm to every target. Nothing in it comes from this machine or this moment.
Report sample_report();

}  // namespace jitrace
