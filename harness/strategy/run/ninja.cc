#include "base/text.h"
#include "strategy/run/child.h"

namespace jitrace {
namespace {

std::string path_escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '$' || c == ' ' || c == ':') text += '$';
    text += c;
  }
  return text;
}

std::string command_escaped(std::string_view command) {
  std::string text;
  for (const char c : command) {
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

std::string ninja_file(const Layout& layout, const Job& job) {
  const std::string compile =
      shell_line(object_command(job.toolchain, job.compiler, job.arch, layout.source, layout.object));
  const std::string link = shell_line(link_command(job.toolchain, job.compiler, layout.object, layout.artifact));
  return "ninja_required_version = 1.3\n\nrule compile\n  command = " + command_escaped(compile) +
         "\n\nrule link\n  command = " + command_escaped(link) + "\n\nbuild " + path_escaped(layout.object) +
         ": compile " + path_escaped(layout.source) + "\nbuild " + path_escaped(layout.artifact) + ": link " +
         path_escaped(layout.object) + "\n\ndefault " + path_escaped(layout.artifact) + "\n";
}

// As torch's _run_ninja_build: subprocess.run(["ninja", "-v"], stdout=PIPE, stderr=STDOUT, cwd=build_directory). ninja
// gives every command a process group of its own, and dies of SIGPIPE when its builder is gone.
Result<BuildEnd> run_ninja(const Build& build, Files& files, const Job& job) {
  TRY_ASSIGN(std::vector<std::string> environment, build_environment(build, job));
  TRY_ASSIGN(Pipe pipe, make_pipe());
  Command command;
  command.argv = {"ninja", "-v"};
  command.environment = std::move(environment);
  command.directory = build.directory;
  command.out = pipe.write.get();
  command.err = pipe.write.get();
  command.inherit = build.inherit;
  TRY_ASSIGN(Process process, Process::spawn(command));
  pipe.write.close();
  files.probe().tool_begin(ToolRole::build_tool, static_cast<std::uint32_t>(process.pid()), "ninja -v");
  if (build.started) build.started(process.pid());
  BuildEnd end;
  TRY_ASSIGN(const WaitStatus status, read_to_end(process, pipe.read, &end.output, files.probe(), job.control));
  end.raw_status = status.raw();
  files.probe().tool_end(static_cast<std::uint32_t>(process.pid()), end.raw_status);
  end.ok = status.is_exit(0);
  end.nothing_to_do = end.output.find("ninja: no work to do.") != std::string::npos;
  return end;
}

}  // namespace jitrace
