#include "strategy/run/run.h"

namespace jitrace {

Result<BuildEnd> run_build(RunKind kind, const Build& build, Files& files, const Job& job) {
  switch (kind) {
    case RunKind::exec: return run_exec(build, files, job);
    case RunKind::popen: return run_popen(build, files, job);
    case RunKind::ninja: return run_ninja(build, files, job);
    case RunKind::library: return run_library(build, files, job);
  }
  return plain_error("run the compiler", "unknown way");
}

}  // namespace jitrace
