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

// A client of the compile server of a cache. Starts one where none lives. Every wait is bounded: for a server to answer
// its socket, and between two signs of life of a build.
class DaemonClient {
 public:
  // Borrows files and job for its life.
  DaemonClient(const LockChoice& choice, Files& files, const Job& job);
  DaemonAnswer ask(const DaemonRequest& request);

 private:
  Result<Fd> reach_server();
  bool is_gone(const Fd& socket) const;
  Result<void> start_if_nobody_lives();
  bool send(const Fd& socket, std::string_view data) const;
  DaemonAnswer await(const Fd& socket, WaitEnd* end);

  Files& files_;
  const Job& job_;
  std::string path_;
  Nanoseconds bound_ = 0;
  // The server that went away last. While it is torn down its socket may still accept: that would be the same loss
  // again.
  pid_t gone_ = 0;
};

}  // namespace jitrace
