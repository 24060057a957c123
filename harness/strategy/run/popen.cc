#include <sys/wait.h>

#include "base/text.h"
#include "strategy/run/child.h"

namespace jitrace {

Result<BuildEnd> run_popen(const Build& build, Files& files, const Job& job) {
  TRY_ASSIGN(std::vector<std::string> environment, build_environment(build, job));
  TRY_ASSIGN(Pipe pipe, make_pipe());
  std::string line =
      shell_line(compile_command(job.toolchain, job.compiler, job.arch, build.source, build.output, build.kind));
  if (!build.directory.empty()) line = "cd " + shell_quoted(build.directory) + " && " + line;
  Command command;
  command.argv = {"/bin/sh", "-c", line + " 2>&1"};
  command.environment = std::move(environment);
  command.out = pipe.write.get();
  command.inherit = build.inherit;
  TRY_ASSIGN(Process process, Process::spawn(command));
  pipe.write.close();
  files.probe().tool_begin(ToolRole::shell, static_cast<std::uint32_t>(process.pid()), command.argv[2]);
  if (build.started) build.started(process.pid());
  BuildEnd end;
  TRY_ASSIGN(const WaitStatus status, read_to_end(process, pipe.read, &end.output, files.probe(), job.control));
  end.raw_status = status.raw();
  files.probe().tool_end(static_cast<std::uint32_t>(process.pid()), end.raw_status);
  // What DeepGEMM did up to 0f5f266: WEXITSTATUS without asking WIFEXITED, which is 0 for a shell killed by a signal.
  const int code = WEXITSTATUS(end.raw_status);
  end.ok = build.status == StatusReading::exit_code_only ? code == 0 : status.is_exit(0);
  return end;
}

}  // namespace jitrace
