#include <fcntl.h>
#include <sys/wait.h>

#include <csignal>

#include "base/file.h"
#include "strategy/run/child.h"

namespace jitrace {
namespace {

void put(std::string& word, std::string_view placeholder, const std::string& value) {
  const std::size_t at = word.find(placeholder);
  if (at != std::string::npos) word.replace(at, placeholder.size(), value);
}

}  // namespace

Result<BuildEnd> run_exec(const Build& build, Files& files, const Job& job) {
  TRY_ASSIGN(std::vector<std::string> environment, build_environment(build, job));
  const std::string said = join(build.scratch, "output");
  TRY_ASSIGN(Fd output, open_fd(said, O_WRONLY | O_CREAT | O_TRUNC));
  Command command;
  command.argv = build.argv;
  if (command.argv.empty()) {
    command.argv = compile_command(job.toolchain, job.compiler, job.arch, build.source, build.output, build.kind);
  }
  for (std::string& word : command.argv) {
    put(word, "{source}", build.source);
    put(word, "{output}", build.output);
  }
  command.environment = std::move(environment);
  command.directory = build.directory;
  command.out = output.get();
  command.err = output.get();
  command.inherit = build.inherit;
  if (build.orphans == Orphans::die) {
    command.group = Command::Group::own_session;
    command.parent_death_signal = SIGKILL;
  }
  TRY_ASSIGN(Process process, Process::spawn(command));
  if (build.started) build.started(process.pid());
  TRY_ASSIGN(const WaitStatus status, wait_for(process, files.probe(), job.control));
  BuildEnd end;
  end.raw_status = status.raw();
  end.ok = status.is_exit(0);
  if (Result<std::string> text = read_file(said)) end.output = std::move(*text);
  return end;
}

}  // namespace jitrace
