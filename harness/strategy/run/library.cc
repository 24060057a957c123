#include "base/file.h"
#include "strategy/control.h"
#include "strategy/run/run.h"
#include "toolchain/nvrtc.h"

namespace jitrace {

// NVRTC compiles from memory, in this process: there is no orphan, no source to miss and no output to tear.
Result<BuildEnd> run_library(const Build& build, Files& files, const Job& job) {
  TRY_ASSIGN(const Nvrtc library, Nvrtc::open(job.toolchain.program));
  Nvrtc::Job work;
  work.source = build.source_text;
  work.name = base_of(build.source);
  work.arch = job.arch;
  work.attempt = build.attempt;
  bool announced = false;
  work.progress = [&] {
    if (!announced) files.probe().reach(Point::compile, files.shown(build.output), 0);
    announced = true;
    wait_controlled(job.control, -1, 0);
  };
  TRY_ASSIGN(const Nvrtc::Compiled compiled, library.compile(work));
  if (!announced) work.progress();  // a library that calls nobody back
  BuildEnd end;
  end.ok = compiled.ok;
  end.output = compiled.log;
  if (!compiled.ok) return end;
  files.probe().reach(Point::output, files.shown(build.output), 0);
  TRY(files.write(build.output, compiled.cubin));
  return end;
}

}  // namespace jitrace
