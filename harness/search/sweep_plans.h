#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event/history.h"
#include "plan/recording.h"
#include "plan/sweep_matrix.h"
#include "plan/trace_plan.h"
#include "search/fault_points.h"
#include "search/kill_classes.h"

namespace jitrace {

// Which plans make a sweep, from what two fault-free runs did.

// What every plan of a sweep shares: command, directory, bounds.
using SweepBase = TracePlan;

// Further fault-free runs, which show what varies: one with a fresh process on what it left, for logs and counters, and where
// {worker} is in the command one as another worker.
std::vector<TracePlan> varied_recordings(const TracePlan& recording);

// The moments at which the second recording has to copy the cache: of every class but the first, which is empty.
std::vector<StepName> snapshot_moments(const std::vector<KillClass>& classes);

// Whether a process of the tree besides the builder lives at this class, so that killing the builder alone is another
// fault than killing all.
bool leaves_orphans(const History& recorded, const KillClass& at);

// Whether a copy of the cache at this class is what a kill leaves there: not while a process has a file of it mapped shared
// and writable, since what it stores there comes without a call.
bool copy_tells_all(const History& recorded, const KillClass& at);

// Whether fresh processes took away, or made anew, a lock that the dead had left: a file or directory that only one can
// make, and that a fault-free run removes. Whoever does that may go by its age, which is another after a while than after
// the kill itself, so a copy does not tell.
bool takes_a_lock_away(const Recording& recording, const History& recovery);

// Roles that more than one process had at a time, such as the compilers below a ninja with two jobs: whose change comes
// first differs from run to run.
std::vector<std::string> concurrent_roles(const History& recorded);

// Fresh processes on what a kill of the whole tree left there.
TracePlan recover_plan(const SweepBase& base, const Recording& recording, const KillClass& at, const std::string& snapshot);
// The kill itself.
TracePlan kill_plan(const SweepBase& base, const Recording& recording, const KillClass& at, SweepColumn column);

// One call of the first process answered with an error, refused or with its reply lost; or cut short, and then the kill.
TracePlan fault_plan(const SweepBase& base, const Recording& recording, const FaultPoint& at, Reply reply);

// Rows whose snapshot result is confirmed by a real kill though nothing was found: a tenth, at least one, by the seed.
std::vector<std::size_t> rows_to_confirm(std::size_t rows, std::uint64_t seed);

}  // namespace jitrace
