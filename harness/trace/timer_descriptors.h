#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "trace/call.h"
#include "trace/tracee_memory.h"
#include "trace/virtual_clock.h"

namespace jitrace {

// The timers that are descriptors (timerfd). The kernel keeps them, so that read, poll and epoll wait for them as ever; each
// is set anew when time was passed. No descriptor of ours stays on one: a timer ends when its last owner closes it.
class TimerDescriptors {
 public:
  // timerfd_settime: made in place of the caller; the answer of the call. Nothing: we cannot get at the descriptor (EPERM
  // of pidfd_getfd, a kernel before 5.6), and the call is the kernel's, on the machine's time.
  std::optional<std::int64_t> set(pid_t process, const RawCall& call, const TraceeMemory& memory, const VirtualClock& clock);
  bool used() const { return used_; }  // whether there ever was one
  // Of the timers that these processes have open, as they see the monotonic clock; nobody may run.
  std::optional<Nanoseconds> next_due(const std::vector<pid_t>& living, const VirtualClock& clock);
  // That much was passed since the last next_due(), and nobody ran: whatever is due has gone off when this returns.
  void passed(Nanoseconds time);

 private:
  struct Armed {
    pid_t process = -1;
    int fd = -1;                // of that process; others may share the timer
    int flags = 0;              // of its setting: TFD_TIMER_CANCEL_ON_SET
    Nanoseconds rest = 0;       // until it goes off next
    Nanoseconds due = 0;        // the machine's time of that, on its clock
    Nanoseconds interval = 0;   // 0: once
    std::uint64_t unread = 0;   // how often it went off since it was read last
  };
  bool used_ = false;
  std::vector<Armed> armed_;    // when next_due() was asked
};

}  // namespace jitrace
