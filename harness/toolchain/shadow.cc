// shadow/bin, shadow/nvvm/bin     what nvcc follows from its invocation directory
// shadow/passes                   what gcc, also below nvcc, follows through COMPILER_PATH
// shadow/real                     the tools that the shims stand for
// Everything else is a link to the toolkit's own.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "process/process.h"
#include "toolchain/toolchain.h"

namespace jitrace {
namespace {

Result<void> make_link(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) == 0) return {};
  return last_error("link", path);
}

// A link for every entry of `from`, but for those named.
Result<void> mirror(const std::string& from, const std::string& to, const std::vector<std::string>& left_out) {
  TRY(make_dirs(to));
  TRY_ASSIGN(const std::vector<std::string> names, list_dir(from));
  for (const std::string& name : names) {
    if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
    TRY(make_link(join(from, name), join(to, name)));
  }
  return {};
}

class Shadow {
 public:
  Shadow(std::string directory, const std::string& libexec)
      : directory_(std::move(directory)), shim_(join(libexec, "stage_shim")) {}

  std::string at(std::string_view path) const { return join(directory_, path); }

  Result<void> stand_in(const std::string& real, const std::string& path) const {
    TRY(make_dirs(at("real")));
    TRY(make_dirs(parent_of(at(path))));
    TRY(make_link(real, at("real/" + base_of(path))));
    return make_link(shim_, at(path));
  }

  Result<void> add_gcc(const std::string& compiler) const {
    for (const std::string name : {"cc1plus", "as", "collect2", "ld"}) {
      TRY_ASSIGN(const std::string real, gcc_program(compiler, name));
      TRY(stand_in(real, "passes/" + name));
    }
    TRY_ASSIGN(const std::string real, on_path(compiler));
    return stand_in(real, "bin/g++");
  }

  Result<void> check() const {
    if (::access(shim_.c_str(), X_OK) == 0) return {};
    return last_error("find", shim_);
  }

 private:
  static Result<std::string> answer(std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment_with({"COMPILER_PATH"});
    const std::string program = command.argv.front();
    TRY_ASSIGN(Finished finished, run_to_end(std::move(command)));
    if (!finished.status.is_exit(0)) return make_error("ask", program, 0, finished.status.describe());
    return finished.output.substr(0, finished.output.find('\n'));
  }

  static Result<std::string> on_path(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    return answer({"sh", "-c", "command -v " + name});
  }

  // gcc names a program that it would look for on PATH by its bare name.
  static Result<std::string> gcc_program(const std::string& compiler, const std::string& name) {
    TRY_ASSIGN(const std::string path, answer({compiler, "-print-prog-name=" + name}));
    return on_path(path);
  }

  std::string directory_;
  std::string shim_;
};

Result<std::string> shadow_nvcc(const Shadow& shadow, const Toolchain& toolchain) {
  const std::string bin = parent_of(toolchain.program);
  const std::string toolkit = parent_of(bin);
  const std::string cicc = join(toolkit, "nvvm/bin/cicc");
  if (!exists(cicc)) return make_error("make a shadow of", toolkit, 0, "it has no nvvm/bin/cicc, as NVIDIA's own toolkit has");
  TRY(mirror(toolkit, shadow.at(""), {"bin", "nvvm", "real", "passes"}));
  TRY(mirror(bin, shadow.at("bin"), {"nvcc", "ptxas", "g++"}));
  TRY(mirror(join(toolkit, "nvvm"), shadow.at("nvvm"), {"bin"}));
  TRY(mirror(join(toolkit, "nvvm/bin"), shadow.at("nvvm/bin"), {"cicc"}));
  TRY(shadow.stand_in(toolchain.program, "bin/nvcc"));
  TRY(shadow.stand_in(join(bin, "ptxas"), "bin/ptxas"));
  TRY(shadow.stand_in(cicc, "nvvm/bin/cicc"));
  TRY(shadow.add_gcc("g++"));
  return shadow.at("bin/nvcc");
}

}  // namespace

Result<std::string> make_shadow(const Toolchain& toolchain, const std::string& directory, const std::string& libexec) {
  const Shadow shadow(directory, libexec);
  switch (toolchain.kind) {
    case ToolchainKind::nvcc:
      TRY(shadow.check());
      TRY(make_dirs(directory));
      return shadow_nvcc(shadow, toolchain);
    case ToolchainKind::cxx:
      TRY(shadow.check());
      TRY(make_dirs(directory));
      TRY(shadow.add_gcc(toolchain.program));
      return shadow.at("bin/g++");
    case ToolchainKind::nvrtc:
    case ToolchainKind::fake:
      break;  // they announce for themselves
  }
  return toolchain.program;
}

}  // namespace jitrace
