#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "process/wait_status.h"
#include "trace/call.h"

namespace jitrace {

// A process below the tracer. Processes are numbered in the order of their start and stay in the list when they ended.
struct TracedProcess {
  int index = 0;
  pid_t pid = -1;
  int parent = -1;           // index; -1: started by the tracer
  int worker = 0;            // whose tree it belongs to
  std::string role;          // "A/ninja/sh/c++/cc1plus"
  std::string arguments;     // since its last exec
  bool replayed = false;     // not the program itself, but a tape of it
  bool killed = false;       // by kill_process or kill_worker
  std::optional<WaitStatus> end;
};

// A call at the cache or at a lock, as those see it who decide about it.
struct TracedCall {
  int process = 0;           // index
  pid_t thread = -1;
  Call call;
  std::string path;          // within the cache; of a lock outside of it absolute
  std::string path2;         // the target of rename, link, symlink
  bool existed = false;      // of a call that creates: the file was there before
  std::string what;          // "open lock O_WRONLY|O_CREAT|O_EXCL"
};

// What becomes of a call.
struct Ruling {
  enum class Kind {
    go,
    fail,     // not made; answers `error`
    lie,      // made, and answered with `error` if it succeeded
    shorten,  // a write of `bytes` bytes instead
    hold,     // stands before it until Supervisor::release
  };
  Kind kind = Kind::go;
  int error = 0;
  std::uint64_t bytes = 0;
};

}  // namespace jitrace
