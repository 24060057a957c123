#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "event/event.h"
#include "loader/loader.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// One kernel that a strategy is asked for.
struct JobKey {
  std::string kernel;
  std::string source;           // the text
  std::uint64_t reference = 0;  // masked digest of an intact artifact; 0: not known, everything whole is intact
};

// How a rename onto a name that is in use behaves (design 6).
enum class RenameMode { local, nfs_busy };

// What a strategy works with: the cache, the compiler, the loader.
struct Job {
  std::string root;             // of the cache, absolute
  std::string scratch;          // the process's own directory
  Fd control;                   // non-blocking FIFO; a byte 'x' there means _exit(137) at once. May be empty
  Toolchain toolchain;
  std::string shadow;
  std::string compiler;
  std::string libexec;
  std::string arch;
  LoaderOptions loader;
  std::vector<JobKey> keys;
  std::string board;            // handed on to the tools; empty: they announce nothing
  Slot slot = 0;
  int client = 0;
  RenameMode rename = RenameMode::local;
  double bound_scale = 1.0;
  Nanoseconds fake_duration = 0;
  std::uint64_t seed = 0;
  std::uint64_t attempt = 0;    // of every build; 0: each is another, drawn from seed and slot
  Nanoseconds server_idle = seconds(600);  // after which a compile server that was started here leaves
};

}  // namespace jitrace
