#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "process/keeper.h"
#include "toolchain/nvrtc.h"
#include "toolchain/toolchain.h"

namespace jitrace {
namespace {

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string find_on_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return {};
  for (const std::string& directory : split(path, ':')) {
    if (directory.empty()) continue;
    std::string candidate = join(directory, name);
    if (is_program(candidate)) return candidate;
  }
  return {};
}

// What stands on PATH may be anybody's script: it is asked within a limit, and nothing of it stays behind.
class Asker {
 public:
  explicit Asker(const std::string& libexec) {
    keeper_.limit = seconds(10);
    keeper_.temp_files = Keeper::TempFiles::own;  // nvcc leaves some behind when it is killed, even of a dry run
    if (const std::string guard = join(libexec, "guard"); is_program(guard)) keeper_.guard = guard;
  }

  Result<Finished> ask(std::vector<std::string> argv) const {
    Command command;
    command.argv = std::move(argv);
    return run_kept(keeper_, command);
  }

 private:
  Keeper keeper_;
};

ToolchainProbe missing(ToolchainKind kind, std::string reason) { return {kind, std::nullopt, std::move(reason)}; }

ToolchainProbe found(ToolchainKind kind, std::string name, std::string program, std::string version) {
  return {kind, Toolchain{kind, std::move(name), std::move(program), std::move(version)}, {}};
}

std::string between(const std::string& text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t from = at + before.size();
  return text.substr(from, text.find_first_of(after, from) - from);
}

// Where nvcc itself says that it lies: what is on PATH may be a script or a link of a distribution.
std::string real_nvcc(const Asker& asker, const std::string& program) {
  const Result<Finished> answer = asker.ask({program, "--dryrun", "-cubin", "-x", "cu", "/dev/null"});
  const std::string here = answer ? between(answer->output, "_HERE_=", "\n") : "";
  std::string real = here.empty() ? program : join(here, "nvcc");
  return is_program(real) ? real : program;
}

ToolchainProbe probe_nvcc(const Asker& asker, const std::string& program, std::string name) {
  if (!is_program(program)) return missing(ToolchainKind::nvcc, program + " is no program");
  const Result<Finished> answer = asker.ask({program, "--version"});
  if (!answer) return missing(ToolchainKind::nvcc, answer.error().message());
  if (!answer->status.is_exit(0)) return missing(ToolchainKind::nvcc, program + " --version: " + answer->status.describe());
  std::string version = between(answer->output, "release ", "\n");
  version = between(version, ", V", "\n ");
  if (version.empty()) return missing(ToolchainKind::nvcc, program + " --version does not answer as nvcc does");
  return found(ToolchainKind::nvcc, std::move(name), real_nvcc(asker, program), std::move(version));
}

std::string default_nvcc() {
  if (std::string program = find_on_path("nvcc"); !program.empty()) return program;
  if (const char* home = std::getenv("CUDA_HOME")) {
    if (std::string program = join(home, "bin/nvcc"); is_program(program)) return program;
  }
  constexpr const char* usual = "/usr/local/cuda/bin/nvcc";
  return is_program(usual) ? usual : std::string();
}

std::vector<ToolchainProbe> probe_all_nvcc(const Asker& asker, const ToolchainSearch& search) {
  std::vector<ToolchainProbe> probes;
  for (const std::string& program : search.nvcc) {
    probes.push_back(probe_nvcc(asker, program, search.nvcc.size() == 1 ? "nvcc" : "nvcc@" + program));
  }
  if (!probes.empty()) return probes;
  const std::string program = default_nvcc();
  if (program.empty()) {
    return {missing(ToolchainKind::nvcc, "not on PATH nor under CUDA_HOME; install the CUDA toolkit or give --nvcc PATH")};
  }
  return {probe_nvcc(asker, program, "nvcc")};
}

ToolchainProbe probe_nvrtc(const ToolchainSearch& search) {
  std::vector<std::string> toolkits;
  for (const std::string& program : search.nvcc) toolkits.push_back(parent_of(parent_of(program)));
  if (const std::string nvcc = default_nvcc(); !nvcc.empty()) toolkits.push_back(parent_of(parent_of(nvcc)));
  Result<Nvrtc> library = Nvrtc::find(toolkits);
  if (!library) return missing(ToolchainKind::nvrtc, library.error().message());
  return found(ToolchainKind::nvrtc, "nvrtc", library->path(), library->version());
}

ToolchainProbe probe_cxx(const Asker& asker) {
  for (const std::string_view name : {"g++", "c++"}) {
    const std::string program = find_on_path(name);
    if (program.empty()) continue;
    const Result<Finished> answer = asker.ask({program, "-dumpfullversion"});
    // clang answers -dumpfullversion with nothing; its passes do not follow COMPILER_PATH, so it is no use here.
    if (!answer || !answer->status.is_exit(0) || answer->output.empty()) continue;
    return found(ToolchainKind::cxx, "cxx", program, between(answer->output, "", "\n"));
  }
  return missing(ToolchainKind::cxx, "no g++ on PATH; install g++");
}

ToolchainProbe probe_fake(const ToolchainSearch& search) {
  const std::string program = join(search.libexec, "fake_compiler");
  if (!is_program(program)) return missing(ToolchainKind::fake, program + " is missing; install jitrace whole");
  return found(ToolchainKind::fake, "fake", program, "1.0");
}

}  // namespace

std::vector<ToolchainProbe> find_toolchains(const ToolchainSearch& search) {
  const Asker asker(search.libexec);
  std::vector<ToolchainProbe> probes = probe_all_nvcc(asker, search);
  probes.push_back(probe_nvrtc(search));
  probes.push_back(probe_cxx(asker));
  probes.push_back(probe_fake(search));
  return probes;
}

}  // namespace jitrace
