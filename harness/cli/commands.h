#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"

namespace jitrace {

// One function a command; each prints what it has to say and returns the exit code.
ExitCode run_command(const RunOptions& options);
ExitCode list_command();
ExitCode doctor_command();
ExitCode record_command(const TracedOptions& options);
ExitCode sweep_command(const SweepOptions& options);
ExitCode replay_command(const ReplayOptions& options);
ExitCode report_command(const ReportOptions& options);

}  // namespace jitrace
