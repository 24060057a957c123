#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "scenario/scenario.h"

namespace jitrace {

// One command that is swept, and what a scenario promises of it.
struct SweptSubject {
  std::string name;                                    // of the run directory, where none was asked for
  std::optional<std::vector<SweepEntry>> expected;     // nothing: every finding counts
};
// Prints the matrix and keeps it in the run directory. `options` holds the command.
ExitCode sweep_subject(const SweepOptions& options, const SweptSubject& subject);

// Every subject of a scenario that is a command, one after the other, each in a directory of its name.
ExitCode sweep_scenario(const SweepOptions& options, const std::string& file);

}  // namespace jitrace
