#include "trial/loop.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace jitrace {

Result<std::vector<int>> wait_readable(const std::vector<int>& descriptors, Nanoseconds deadline) {
  std::vector<pollfd> polled;
  for (const int descriptor : descriptors) polled.push_back({descriptor, POLLIN, 0});
  for (;;) {
    timespec left{};
    if (deadline != 0) {
      const Nanoseconds ns = std::max<Nanoseconds>(0, deadline - now());
      left = {ns / seconds(1), ns % seconds(1)};
    }
    const int n = ::ppoll(polled.data(), polled.size(), deadline != 0 ? &left : nullptr, nullptr);
    if (n >= 0) break;
    if (errno != EINTR) return last_error("wait for events");
  }
  std::vector<int> ready;
  for (const pollfd& entry : polled) {
    if (entry.revents != 0) ready.push_back(entry.fd);
  }
  return ready;
}

}  // namespace jitrace
