#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "process/process.h"
#include "trace/decode.h"

namespace jitrace {

// A process that a zygote (zygote.py) has forked for us and that waits at the handshake: it stands in our mounts, with
// the command's descriptors, environment and directory, in a session of its own. Once let go, it installs the filter,
// for which it must be traced by then, and runs the script. If this goes before that, or we do, it ends.
class WaitingProcess {
 public:
  // `zygote`: path of its socket. The command's first word is the interpreter, which the zygote is already.
  static Result<WaitingProcess> ask(const std::string& zygote, const Command& command, Stops stops);

  pid_t pid() const { return pid_; }
  Result<void> let_go();

 private:
  WaitingProcess(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}
  pid_t pid_;
  Fd socket_;
};

// A listening socket at `path`, for a zygote to inherit; as long as a path may be.
Result<Fd> listen_for_zygote(const std::string& path);
// Connects and asks nothing: "ready\n" can be read from the socket once the zygote can fork, hence has imported
// everything.
Result<Fd> knock_at_zygote(const std::string& path);

}  // namespace jitrace
