#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/point.h"

namespace jitrace {

enum class Mode { gated, free };

// Whom a fault hits. `worker` counts by slot, `builder` and `waiter` by ticket; tools are those of the matching builder.
enum class Victim { none, builder, waiter, worker, build_tool, compiler, shell, stage, group, tree, daemon, other };
enum class FaultKind { kill, exit_137, stop, wipe, clear, force_rebuild, damage, unlink_lock };
enum class Damage { none, cut, empty, replace, remove };
// Who goes first when the builder is gone and its compiler is not (design 6).
enum class OrphanOrder { none, first, held };

struct FaultPlan {
  FaultKind kind = FaultKind::kill;
  Victim who = Victim::builder;
  int index = 1;              // the k-th of them
  Point point = Point::none;  // when the builder (or the worker `who` names) is there …
  int occurrence = 1;         // … for the n-th time
  int signal = 9;             // kill only
  Damage damage = Damage::none;
  std::string path;           // wipe, damage: relative to the cache; empty: all of it
  OrphanOrder order = OrphanOrder::none;
  Point until = Point::none;  // stop only: continued once another worker is there; none: never
  bool at_random = false;     // free mode only: at a moment drawn from the seed within the build
};

struct WorkerPlan {
  std::string preset;
  int client = 0;             // index of the cache view
  std::string action = "get"; // get, clear, force_rebuild (before the get)
};

// What lies in the cache before round 1. Paths are patterns: {entry} {artifact} {lock} of key 0 stand for the preset's.
struct BeforePlan {
  std::string action;         // put (a file of ours), entry (a sound entry of an earlier run), cut, empty, replace, remove
  std::string path;
  std::string content;        // put only
};

// One trial, whole: no clock and no system call went into it. Same scenario and seed give the same bytes of text().
struct Plan {
  std::string scenario;       // name
  std::string cell;           // id within the scenario: "torch-baton/kill-compile/nvcc/sm_90a"
  int trial = 0;              // from 1
  std::uint64_t seed = 0;     // of this trial
  Mode mode = Mode::gated;
  std::string subject;        // as reported: "torch-baton", "msa-flock over baton", "command"
  std::string cause;          // "none", or the name of the fault entry
  std::vector<std::string> command;  // free mode with the user's program; empty: built-in
  std::string toolchain;      // name, see Toolchain
  std::string arch;           // sm_90a
  std::string loader;
  std::string load_api;       // module, library
  std::string device;         // target device of the elf loader
  std::vector<std::string> kernels;  // one key each
  std::vector<WorkerPlan> workers;
  int rounds = 1;
  int gets = 1;               // how often each worker asks for each key
  int clients = 1;
  std::string rename = "local";  // local, nfs-busy
  std::vector<BeforePlan> before;
  std::vector<FaultPlan> faults;
  double bound_scale = 1.0;   // the presets' bounds are multiplied by this
  Nanoseconds fake_duration = 0;     // of a fake compile, whole
  Nanoseconds watchdog = seconds(120);  // of one round; then the trial is stalled

  std::string text() const;
  static Result<Plan> parse(std::string_view text);
};

std::string_view name_of(Mode mode);
std::string_view name_of(Victim victim);
std::string_view name_of(FaultKind kind);
std::string_view name_of(Damage damage);
std::string_view name_of(OrphanOrder order);
// "SIGKILL of builder 1 at compile, orphan-held"
std::string describe(const FaultPlan& fault);

}  // namespace jitrace
