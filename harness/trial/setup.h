#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "process/keeper.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// A toolchain as this run calls it.
struct ReadyToolchain {
  Toolchain toolchain;
  std::string shadow;    // directory of the shadow toolkit
  std::string compiler;  // the shadow's compiler
};

// What stays the same over all trials of a run. Made once by prepare_run; trials only read it.
struct Setup {
  std::string libexec;
  std::string run_dir;                  // --out
  std::string kernel_dir;               // where the .cu files lie
  std::vector<std::string> cache_roots; // one a client: DIR/jitrace-<run>; several may be views of one directory
  std::string run_id;
  std::map<std::string, ReadyToolchain> toolchains;          // by name
  std::map<std::string, std::uint64_t> references;           // by reference_key
  std::map<std::string, Error> failures;                     // likewise: what did not compile is not tried again
  Keeper keeper;                        // of what the driver compiles for itself; each plan's watchdog is its limit
  std::map<std::string, Nanoseconds> typical;  // by subject: how long a clean trial takes, for moments drawn from the seed
};

// Names one reference compile. Two presets that build in the same number of steps share it.
std::string reference_key(const std::string& toolchain, const std::string& kernel, const std::string& arch,
                          ArtifactKind kind, Steps steps);
// What the plan's first preset makes with its toolchain.
struct BuildShape {
  ArtifactKind kind = ArtifactKind::fake;
  Steps steps = Steps::one;
};
BuildShape shape_of(const std::string& preset, const Toolchain& toolchain);

Keeper keeper_for(const Setup& setup, const Plan& plan);

// Makes the shadow toolkit and the reference compiles that this plan needs and the setup lacks.
Result<void> make_ready(Setup& setup, const Plan& plan, const Toolchain& toolchain);

}  // namespace jitrace
