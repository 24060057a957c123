#pragma once

#include "plan/sweep_matrix.h"

namespace jitrace {

// What a sweep of torch's loader looks like: later loads hang from the creation of its lock to the removal.
SweepMatrix sample_matrix();
// The same with everything that can go wrong: torn, failed, undecided and not run, miscounted, and text from the
// subject that means harm to every target.
SweepMatrix hostile_matrix();

}  // namespace jitrace
