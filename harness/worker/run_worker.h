#pragma once

#include "base/result.h"
#include "strategy/job.h"
#include "strategy/preset.h"
#include "worker/spec.h"

namespace jitrace {

// One worker, whole: attaches to the board, waits for its round's start, does what it is asked for with every key, and
// says how it ended. Returns the exit code: 0, or 1 where a get failed (the message is on stderr). An error means that
// it could not start.
Result<int> run_worker(const WorkerSpec& spec, const Preset& preset);

// What of the spec the strategies see; reads the kernels' sources and opens the control FIFO.
Result<Job> job_of(const WorkerSpec& spec);

// The program: its argument is the path of a spec, whose preset is looked up in the table.
int worker_main(int argc, char** argv);

}  // namespace jitrace
