#pragma once

#include <string>

#include "strategy/daemon_wire.h"
#include "strategy/files.h"
#include "strategy/job.h"
#include "strategy/preset.h"

namespace jitrace {

// How one round with the compile server ended.
struct DaemonAnswer {
  enum class Kind {
    ready,   // the entry is there
    failed,  // the compiler refused; message says why
    lost,    // no server, or it went away or fell silent, or its compiler was killed
  };
  Kind kind = Kind::lost;
  std::string message;
};

// Asks the server of the cache, starting one where none lives. Every wait is bounded: for a server to answer its socket,
// and between two signs of life of a build.
DaemonAnswer ask_daemon(const DaemonRequest& request, const LockChoice& choice, Files& files, const Job& job);

}  // namespace jitrace
