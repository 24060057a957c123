#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "process/process.h"

namespace jitrace {

// How the driver runs tools for itself (version probes, reference compiles): below a guard, so that nothing of them
// outlives it, whatever ends it; within a limit, so that none keeps it for ever.
struct Keeper {
  std::string guard;      // the guard program; empty: the tool is a plain child, without limit and interrupt
  Nanoseconds limit = 0;  // 0: none
  int interrupt = -1;     // borrowed; once it is readable the tool is given up (ECANCELED)
  // own: TMPDIR is a directory that the guard removes, whatever ends the tool or us. Only with a guard.
  enum class TempFiles { users, own } temp_files = TempFiles::users;
};

// Starts, waits, returns status and both outputs together, cut at 1 MiB. Every descendant of the tool has ended when this
// returns. ETIMEDOUT: the limit passed. `command` is a program with arguments, environment and directory; no descriptors.
Result<Finished> run_kept(const Keeper& keeper, const Command& command);

}  // namespace jitrace
