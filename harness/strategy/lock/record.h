#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace jitrace {

// What a holder notes in its lock file: the slowest compile that anybody saw, and the compiler that it waits for. Only
// a hint: it decides how long others wait, never who may build.
struct LockRecord {
  struct Who {
    std::string host;
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
  };
  Nanoseconds slowest = 0;
  Who compiler;  // pid 0: none

  static Who identify(pid_t pid);
  static LockRecord read(int fd);     // whatever cannot be read is as if it were not there
  void write(int fd) const;
  bool compiler_lives() const;        // false for one on another host: nobody here can tell
};

}  // namespace jitrace
