#include "toolchain/toolchain.h"

#include <array>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "process/process.h"
#include "toolchain/artifact.h"
#include "toolchain/nvrtc.h"

namespace jitrace {
namespace {

constexpr std::array<std::string_view, 4> kind_names = {"nvcc", "nvrtc", "cxx", "fake"};

// Beside a shadow's compiler stands the shadow's g++; otherwise the one on PATH links.
std::string linker_beside(const Toolchain& toolchain, const std::string& program) {
  return program == toolchain.program ? "g++" : join(parent_of(program), "g++");
}

// "sm_90a" names real code only; with -arch nvcc would add PTX of a second, older architecture and compile twice.
std::string gencode(const std::string& arch) {
  const std::string number = arch.substr(arch.find('_') + 1);
  return "arch=compute_" + number + ",code=sm_" + number;
}

// Toolkits of NVIDIA, of distributions and of wheels keep their libraries at different places.
std::string cudart_directory(const Toolchain& toolchain) {
  const std::string toolkit = parent_of(parent_of(toolchain.program));
  for (const std::string_view name : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
    std::string directory = join(toolkit, name);
    if (exists(join(directory, "libcudart.so"))) return directory;
  }
  return join(toolkit, "lib64");
}

}  // namespace

std::string_view name_of(ToolchainKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<ToolchainKind> parse_toolchain_kind(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names[i] == name) return static_cast<ToolchainKind>(i);
  }
  return std::nullopt;
}

Result<Kernel> read_kernel(const std::string& directory, const std::string& name) {
  TRY_ASSIGN(std::string source, read_file(join(directory, name + ".cu")));
  return Kernel{name, std::move(source)};
}

std::vector<std::string> compile_command(const Toolchain& toolchain, const std::string& program, const std::string& arch,
                                         const std::string& source, const std::string& output, ArtifactKind kind) {
  switch (toolchain.kind) {
    case ToolchainKind::nvcc:
      if (kind == ArtifactKind::shared_object) {
        return {program, "-shared", "-gencode", gencode(arch), "-std=c++17", "--no-compress", "-Xcompiler", "-fPIC",
                "-Xlinker", "--build-id=none,-s", "-cudart", "shared", "-o", output, source};
      }
      return {program, "-cubin", "-arch=" + arch, "-std=c++17", "-o", output, source};
    case ToolchainKind::cxx:
      return {program, "-shared", "-fPIC", "-O2", "-std=c++17", "-DJITRACE_HOST", "-include", "jitrace_stamp.h",
              "-Wl,--build-id=none,-s", "-o", output, "-x", "c++", source};
    case ToolchainKind::fake:
      return {program, "-cubin", "-arch=" + arch, "-o", output, source};
    case ToolchainKind::nvrtc:
      break;
  }
  return {};
}

std::vector<std::string> object_command(const Toolchain& toolchain, const std::string& program, const std::string& arch,
                                        const std::string& source, const std::string& output) {
  switch (toolchain.kind) {
    case ToolchainKind::nvcc:
      return {program, "-c", "-gencode", gencode(arch), "-std=c++17", "--no-compress", "-Xcompiler", "-fPIC",
              "-o", output, source};
    case ToolchainKind::cxx:
      return {program, "-c", "-fPIC", "-O2", "-std=c++17", "-DJITRACE_HOST", "-include", "jitrace_stamp.h", "-o", output,
              "-x", "c++", source};
    case ToolchainKind::fake:
      return {program, "-c", "-arch=" + arch, "-o", output, source};
    case ToolchainKind::nvrtc:
      break;
  }
  return {};
}

std::vector<std::string> link_command(const Toolchain& toolchain, const std::string& program, const std::string& object,
                                      const std::string& output) {
  switch (toolchain.kind) {
    case ToolchainKind::nvcc: {
      const std::string libraries = cudart_directory(toolchain);
      return {linker_beside(toolchain, program), "-shared", "-Wl,--build-id=none,-s", "-o", output, object,
              "-L" + libraries, "-Wl,-rpath," + libraries, "-lcudart"};
    }
    case ToolchainKind::cxx:
      return {program, "-shared", "-Wl,--build-id=none,-s", "-o", output, object};
    case ToolchainKind::fake:
      return {program, "-shared", "-o", output, object};
    case ToolchainKind::nvrtc:
      break;
  }
  return {};
}

Result<std::vector<std::string>> attempt_environment(const Toolchain& toolchain, const Attempt& attempt,
                                                     const std::string& shadow) {
  std::vector<std::string> environment = {"JITRACE_ATTEMPT=" + hex(attempt.id),
                                          "JITRACE_KEY=" + std::to_string(attempt.key), "TMPDIR=" + attempt.scratch};
  switch (toolchain.kind) {
    case ToolchainKind::nvcc:
      environment.push_back("NVCC_APPEND_FLAGS=-DJITRACE_STAMP=" + hex(attempt.id));
      environment.push_back("JITRACE_COMPILE_AT=cicc");
      break;
    case ToolchainKind::cxx: {
      // A directory of its own: g++ would also look for other headers there.
      const std::string headers = join(attempt.scratch, "stamp");
      TRY(make_dirs(headers));
      TRY(write_file(join(headers, "jitrace_stamp.h"), "#define JITRACE_STAMP " + hex(attempt.id) + "\n"));
      environment.push_back("CPLUS_INCLUDE_PATH=" + headers);
      environment.push_back("JITRACE_COMPILE_AT=as");
      break;
    }
    case ToolchainKind::nvrtc:
    case ToolchainKind::fake:
      return environment;
  }
  if (!shadow.empty()) environment.push_back("COMPILER_PATH=" + join(shadow, "passes"));
  return environment;
}

}  // namespace jitrace
