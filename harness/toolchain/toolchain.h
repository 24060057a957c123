#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/keeper.h"

namespace jitrace {

enum class ToolchainKind { nvcc, nvrtc, cxx, fake };
std::string_view name_of(ToolchainKind kind);
std::optional<ToolchainKind> parse_toolchain_kind(std::string_view name);

// What a build makes, and so who can load it.
enum class ArtifactKind { cubin, shared_object, fake };

// A compiler of this machine, ready to be called.
struct Toolchain {
  ToolchainKind kind = ToolchainKind::fake;
  std::string name;      // "nvcc"; "nvcc@/opt/cuda-12.4/bin/nvcc" where several were asked for
  std::string program;   // nvcc, g++, the fake compiler; for nvrtc the library
  std::string version;   // "13.0.88"
};

// One that was looked for: usable, or why it is not and what would help (one clause each).
struct ToolchainProbe {
  ToolchainKind kind = ToolchainKind::fake;
  std::optional<Toolchain> toolchain;
  std::string reason;
};

struct ToolchainSearch {
  std::vector<std::string> nvcc;  // --nvcc, in order; empty: PATH, then CUDA_HOME, then /usr/local/cuda
  std::string libexec;            // where the fake compiler and the shims lie
};

// Every toolchain that is looked for, in the order nvcc (one a path), nvrtc, cxx, fake. One that does not answer within
// seconds is not usable.
std::vector<ToolchainProbe> find_toolchains(const ToolchainSearch& search);

// A kernel of scenarios/kernels: `<name>.cu` compiles as CUDA and as host C++ (the macro JITRACE_HOST is set by cxx).
struct Kernel {
  std::string name;
  std::string source;  // the text
};
Result<Kernel> read_kernel(const std::string& directory, const std::string& name);

// How the compiler is called. Command lines never hold the attempt: ninja hashes them.
// One step from source to artifact (nvcc -cubin, g++ -shared, fake).
std::vector<std::string> compile_command(const Toolchain& toolchain, const std::string& program, const std::string& arch,
                                         const std::string& source, const std::string& output, ArtifactKind kind);
// Two steps for the torch family: an object, then a shared object.
std::vector<std::string> object_command(const Toolchain& toolchain, const std::string& program, const std::string& arch,
                                        const std::string& source, const std::string& output);
std::vector<std::string> link_command(const Toolchain& toolchain, const std::string& program, const std::string& object,
                                      const std::string& output);

// What the environment of one attempt says: the stamp, the shims' directories, where temporary files go.
// `scratch` is a private directory of the attempt (a stamp header for g++ is written there).
struct Attempt {
  std::uint64_t id = 0;
  std::uint16_t key = 0;
  std::string scratch;
};
Result<std::vector<std::string>> attempt_environment(const Toolchain& toolchain, const Attempt& attempt,
                                                     const std::string& shadow);

// A directory of links to the real toolkit in which the stages are shims (stage_shim.h). Made once per run and toolchain.
// Returns the compiler to call: the shadow's own entry for it.
Result<std::string> make_shadow(const Toolchain& toolchain, const std::string& directory, const std::string& libexec);

// The digest, stamp masked, of what this toolchain makes of the kernel when nobody interferes. Compiles it once in
// `scratch`, the same way (one step or two) as the subject will; `keeper` bounds each step.
enum class Steps { one, two };
Result<std::uint64_t> reference_digest(const Toolchain& toolchain, const Kernel& kernel, const std::string& arch,
                                       ArtifactKind kind, Steps steps, const std::string& scratch,
                                       const Keeper& keeper = {});

}  // namespace jitrace
