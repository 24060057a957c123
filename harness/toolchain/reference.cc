#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "process/keeper.h"
#include "toolchain/artifact.h"
#include "toolchain/nvrtc.h"
#include "toolchain/toolchain.h"

namespace jitrace {
namespace {

constexpr std::uint64_t reference_attempt = 0x4a495452ef000000;

// Of all that a compiler says the line that tells most, without the name of a copy that nobody will find.
std::string telling_line(const std::string& output, const std::string& source) {
  constexpr std::size_t most = 300;
  std::string telling;
  for (std::string line : split(output, '\n')) {
    if (line.empty()) continue;
    const bool is_error = line.find("error") != std::string::npos;
    if (telling.empty() || is_error) telling = std::move(line);
    if (is_error) break;
  }
  for (std::size_t at = 0; (at = telling.find(source, at)) != std::string::npos;) telling.replace(at, source.size(), base_of(source));
  return telling.size() <= most ? telling : telling.substr(0, most) + " …";
}

Result<void> run(const Toolchain& toolchain, std::vector<std::string> argv, const std::string& scratch,
                 const std::string& source, const Keeper& keeper) {
  Command command;
  command.argv = std::move(argv);
  TRY_ASSIGN(std::vector<std::string> changes, attempt_environment(toolchain, {reference_attempt, 0, scratch}, {}));
  // The reference speaks to no board: nobody must be able to stop or kill it.
  changes.emplace_back("JITRACE_BOARD");
  changes.emplace_back("JITRACE_FAKE_NS=0");
  command.environment = environment_with(changes);
  const Result<Finished> finished = run_kept(keeper, command);
  if (!finished) {
    return make_error("compile the reference with", toolchain.program, finished.error().code, finished.error().note);
  }
  if (finished->status.is_exit(0)) return {};
  return make_error("compile the reference with", toolchain.program, 0,
                    finished->status.describe() + ": " + telling_line(finished->output, source));
}

}  // namespace

Result<std::uint64_t> reference_digest(const Toolchain& toolchain, const Kernel& kernel, const std::string& arch,
                                       ArtifactKind kind, Steps steps, const std::string& scratch,
                                       const Keeper& keeper) {
  if (toolchain.kind == ToolchainKind::nvrtc) {
    TRY_ASSIGN(const Nvrtc library, Nvrtc::open(toolchain.program));
    TRY_ASSIGN(const Nvrtc::Compiled compiled,
               library.compile({kernel.source, kernel.name + ".cu", arch, reference_attempt, {}}));
    if (!compiled.ok) return make_error("compile the reference with", toolchain.program, 0, telling_line(compiled.log, kernel.name + ".cu"));
    return view_artifact(compiled.cubin).masked_digest;
  }
  TRY(make_dirs(scratch));
  const std::string source = join(scratch, kernel.name + ".cu");
  const std::string object = join(scratch, "reference.o");
  const std::string output = join(scratch, "reference.out");
  TRY(write_file(source, kernel.source));
  if (steps == Steps::one) {
    TRY(run(toolchain, compile_command(toolchain, toolchain.program, arch, source, output, kind), scratch, source, keeper));
  } else {
    TRY(run(toolchain, object_command(toolchain, toolchain.program, arch, source, object), scratch, source, keeper));
    TRY(run(toolchain, link_command(toolchain, toolchain.program, object, output), scratch, source, keeper));
  }
  TRY_ASSIGN(const std::string bytes, read_file(output));
  return view_artifact(bytes).masked_digest;
}

}  // namespace jitrace
