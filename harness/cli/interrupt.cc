#include "cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace jitrace {

Result<Interrupt> Interrupt::create() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, number);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return last_error("block signals");
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return last_error("watch signals");
  // A report that is read through `head` must not end the run half way.
  ::signal(SIGPIPE, SIG_IGN);
  return Interrupt(std::move(fd));
}

int Interrupt::signal() {
  // Looked at without reading: the descriptor stays readable, so whoever polls it after us sees it, too.
  pollfd polled{fd_.get(), POLLIN, 0};
  if (seen_ == 0 && ::poll(&polled, 1, 0) > 0) {
    sigset_t pending;
    ::sigpending(&pending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (seen_ == 0 && ::sigismember(&pending, number) == 1) seen_ = number;
    }
  }
  return seen_;
}

}  // namespace jitrace
