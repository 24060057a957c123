#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "strategy/files.h"
#include "strategy/job.h"
#include "strategy/layout.h"
#include "strategy/preset.h"

namespace jitrace {

// One run of the compiler: source to artifact.
struct Build {
  std::uint64_t attempt = 0;
  std::uint16_t key = 0;
  std::string source_text;      // for a library, which reads no file
  std::string source;
  std::string object;           // ninja only
  std::string output;
  std::string directory;        // where it runs
  std::string scratch;          // of this attempt: TMPDIR, captured output
  ArtifactKind kind = ArtifactKind::fake;
  StatusReading status = StatusReading::whole;
  Orphans orphans = Orphans::live_on;
  std::vector<int> inherit;     // lock descriptors that the child shares
  std::function<void(pid_t)> started;
  // For exec only: what to run instead of the job's compiler, {source} and {output} standing for the two, and the
  // complete environment, but for TMPDIR. Empty: the job decides.
  std::vector<std::string> argv;
  std::vector<std::string> environment;
};

struct BuildEnd {
  bool ok = false;              // as the mirrored system reads the status
  bool nothing_to_do = false;   // ninja found everything up to date
  int raw_status = -1;          // as waitpid gives it; -1: no process ran
  std::string output;
};

// Runs it and waits for it, exiting with 137 when the control descriptor says so. An error: it could not be started.
Result<BuildEnd> run_build(RunKind kind, const Build& build, Files& files, const Job& job);

// The build.ninja of one extension: a compile and a link edge. Command lines do not differ from attempt to attempt, or
// ninja would build everything again.
std::string ninja_file(const Layout& layout, const Job& job);

Result<BuildEnd> run_exec(const Build& build, Files& files, const Job& job);
Result<BuildEnd> run_popen(const Build& build, Files& files, const Job& job);
Result<BuildEnd> run_ninja(const Build& build, Files& files, const Job& job);
Result<BuildEnd> run_library(const Build& build, Files& files, const Job& job);

}  // namespace jitrace
