#pragma once

#include "verdict/finding.h"

namespace jitrace {

// What the program's exit code means: a contract with whoever runs it in CI.
enum class ExitCode : int {
  met = 0,            // every expectation was met
  findings = 1,       // at least one was not
  inconclusive = 2,   // nothing was shown either way, or cells were skipped without a waiver, or nothing ran
  usage = 64,         // the command line or the scenario is wrong
  unusable = 69,      // the cache directory or the output cannot be used
  own_fault = 70,     // jitrace itself failed
  interrupted = 130,  // SIGINT; SIGTERM is 143. What was measured until then is in the report
  terminated = 143,
};

ExitCode code_of(Grade grade);
ExitCode interrupted_by(int signal);

}  // namespace jitrace
