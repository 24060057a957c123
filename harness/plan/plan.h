#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/point.h"
#include "scenario/fault.h"

namespace jitrace {

enum class Mode { gated, free };

struct FaultPlan {
  FaultKind kind = FaultKind::kill;
  Victim who = Victim::builder;
  int index = 1;              // the k-th of them
  Point point = Point::none;  // when the builder (or the worker `who` names) is there …
  int occurrence = 1;         // … for the n-th time
  int waiters = 0;            // … and once at least so many other workers wait
  int signal = 9;             // kill only
  Damage damage = Damage::none;
  std::string path;           // wipe, damage: relative to the cache, or a pattern as in BeforePlan; empty: all of it
  OrphanOrder order = OrphanOrder::none;
  // Stop only: continued once another worker is there, or when all others have ended and nobody will be; none: never.
  Point until = Point::none;
  bool at_random = false;     // free mode only: at a moment drawn from the seed within the build
};

struct WorkerPlan {
  std::string preset;
  int client = 0;             // index of the cache view
  std::string action = "get"; // get, clear, force_rebuild (before the get)
};

// What lies in the cache before round 1. Paths are patterns: {entry} {artifact} {source} {lock} of key 0 stand for the preset's.
struct BeforePlan {
  std::string action;         // put (a file of ours), entry (a sound entry of an earlier run), cut, empty, replace, remove
  std::string path;
  std::string content;        // put, replace
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
  std::vector<std::string> cache_dirs;  // one, or one per client; empty: a directory of the run
  std::string rename = "local";  // local, nfs-busy
  std::vector<BeforePlan> before;
  std::vector<FaultPlan> faults;
  double bound_scale = 1.0;   // the presets' bounds are multiplied by this
  Nanoseconds fake_duration = 0;     // of a fake compile, whole
  Nanoseconds watchdog = seconds(120);  // of one round; then the trial is stalled

  // text() and parse() are inverse: what is parsed has the same bytes again. parse() names the line's field it refuses.
  std::string text() const;
  static Result<Plan> parse(std::string_view text);
};

std::string_view name_of(Mode mode);
std::optional<Mode> parse_mode(std::string_view name);
// "SIGKILL of builder 1 at compile, orphan-held"
std::string describe(const FaultPlan& fault);

}  // namespace jitrace
