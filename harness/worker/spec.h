#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/event.h"
#include "loader/loader.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// One kernel of a worker's job.
struct KeySpec {
  std::string kernel;           // name
  std::string source;           // path of the .cu to read
  std::uint64_t reference = 0;  // masked digest of an intact artifact of this key
};

// All that a built-in worker is told; crosses the process line as text (a file, its path in argv[1]).
struct WorkerSpec {
  std::string board;
  Slot slot = 0;
  int index = 0;                // within its round, from 0
  int round = 1;
  std::string preset;
  std::string action = "get";   // get, clear, force_rebuild
  std::string cache;            // root of the cache as this worker's client sees it
  std::string scratch;          // the worker's own directory: TMPDIR, attempts
  std::string control;  // FIFO, made by the driver: a byte 'x' there means _exit(137) at once, also in mid-compile
  Toolchain toolchain;
  std::string shadow;           // directory of the shadow toolkit
  std::string compiler;         // the shadow's compiler, to be called
  std::string libexec;
  std::string arch;
  LoaderOptions loader;
  std::vector<KeySpec> keys;
  int gets = 1;
  int client = 0;
  int clients = 1;
  std::string rename = "local";
  double bound_scale = 1.0;
  Nanoseconds fake_duration = 0;
  std::uint64_t seed = 0;

  std::string text() const;
  static Result<WorkerSpec> parse(std::string_view text);
};

}  // namespace jitrace
