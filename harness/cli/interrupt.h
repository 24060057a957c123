#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// SIGINT, SIGTERM and SIGHUP as a descriptor. While one exists these signals do not end the program: every loop polls
// the descriptor, finishes what must be finished, and leaves.
class Interrupt {
 public:
  static Result<Interrupt> create();
  const Fd& fd() const { return fd_; }
  // The signal that came, 0 if none. Does not block; remembers.
  int signal();

 private:
  explicit Interrupt(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  int seen_ = 0;
};

}  // namespace jitrace
