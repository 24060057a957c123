#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/machine.h"
#include "cli/prepared.h"
#include "loader/loader.h"
#include "trial/lane_runner.h"

namespace jitrace {
namespace {

void say(const char* standing, const std::string& what, const std::string& detail) {
  std::printf("  [%-4s] %-14s %s\n", standing, what.c_str(), detail.c_str());
}

std::string remedy_of(ToolchainKind kind) {
  switch (kind) {
    case ToolchainKind::nvcc: return "install the CUDA toolkit's nvcc, set CUDA_HOME, or pass --nvcc PATH";
    case ToolchainKind::nvrtc: return "install the CUDA toolkit's libnvrtc and build with cuda.h at hand";
    case ToolchainKind::cxx: return "apt-get install g++";
    case ToolchainKind::fake: return "the build is incomplete: build or install jitrace again";
  }
  return {};
}

std::string on_path(const std::string& program) {
  const char* path = ::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = join(rest.substr(0, colon), program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

}  // namespace

ExitCode doctor_command() {
  const auto machine = look_around({});
  if (!machine) return complain(machine.error(), ExitCode::own_fault);
  std::printf("this machine\n");
  for (const auto& [name, value] : describe_machine()) std::printf("  %-10s %s\n", name.c_str(), value.c_str());
  std::printf("toolchains\n");
  bool real = false;
  for (const ToolchainProbe& probe : machine->probes) {
    const std::string kind(name_of(probe.kind));
    if (probe.toolchain) say("ok", probe.toolchain->name, probe.toolchain->version + " " + probe.toolchain->program);
    else say("no", kind, probe.reason + "; " + remedy_of(probe.kind));
    real = real || (probe.toolchain && probe.kind != ToolchainKind::fake);
  }
  const std::string ninja = on_path("ninja");
  say(ninja.empty() ? "no" : "ok", "ninja", ninja.empty() ? "torch's presets need it; apt-get install ninja-build" : ninja);
  std::printf("loaders\n");
  for (const LoaderProbe& loader : find_loaders()) say(loader.usable ? "ok" : "no", loader.name, loader.reason);
  std::printf("control\n");
  say("ok", "gated", "built-in subjects stop at named points");
  say("ok", "free", "any command, kills at a random moment");
  const auto traced = LaneRunner::try_out(machine->libexec);
  if (!traced) {
    say("no", "traced", traced.error().message() + "; ptrace and seccomp filters have to be allowed");
  } else if (const int lanes = LaneRunner::side_by_side(); lanes > 1) {
    say("ok", "traced", "any command, at its system calls; " + std::to_string(lanes) + " lanes side by side");
  } else {
    say("ok", "traced", "any command, at its system calls; one lane: private mounts, for more, need root");
  }
  std::printf("where a cache may lie\n");
  for (const std::string& directory : {std::string("."), std::string("/tmp"), std::string("/dev/shm")}) {
    const CacheInfo info = describe_cache(directory);
    const bool writable = ::access(directory.c_str(), W_OK) == 0;
    say(writable ? "ok" : "no", directory, info.fs + " (" + info.options + ")");
  }
  std::printf("two clients of one network file system: give two mounts of one export, --cache MOUNT1,MOUNT2\n");
  return real ? ExitCode::met : ExitCode::inconclusive;
}

}  // namespace jitrace
