#include "strategy/control.h"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>

namespace jitrace {

Woken wait_controlled(const Fd& control, int fd, Nanoseconds limit) {
  const Nanoseconds end = limit < 0 ? -1 : now() + limit;
  for (;;) {
    pollfd polled[2] = {{control.get(), POLLIN, 0}, {fd, POLLIN, 0}};
    timespec left{};
    const timespec* timeout = nullptr;
    if (end >= 0) {
      const Nanoseconds rest = end > now() ? end - now() : 0;
      left.tv_sec = rest / seconds(1);
      left.tv_nsec = rest % seconds(1);
      timeout = &left;
    }
    if (::ppoll(polled, 2, timeout, nullptr) > 0) {
      char order = 0;
      if ((polled[0].revents & POLLIN) != 0 && ::read(control.get(), &order, 1) == 1 && order == 'x') ::_exit(137);
      if (polled[1].revents != 0) return Woken::by_descriptor;
    }
    if (end >= 0 && now() >= end) return Woken::by_time;
  }
}

}  // namespace jitrace
