#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/call.h"
#include "trace/tracee_memory.h"
#include "trace/virtual_clock.h"

namespace jitrace {

// The timers that send a signal, kept by the tracer in place of the kernel so that they keep to moved time: alarm,
// setitimer(ITIMER_REAL), timer_create and what goes with it. (Those that are descriptors: TimerDescriptors.)
class Timers {
 public:
  // Sets, clears or asks for one; the answer of the call. Nothing: it is for the kernel (CPU time).
  std::optional<std::int64_t> set(pid_t process, const RawCall& call, const TraceeMemory& memory,
                                  const VirtualClock& clock);
  // timer_create has answered.
  void created(pid_t process, const RawCall& call, const TraceeMemory& memory);
  void ended(pid_t process);                         // or has a new program: its POSIX timers are gone
  void replaced(pid_t process);

  std::optional<Nanoseconds> next_due() const;
  struct Signal {
    pid_t process = -1;
    pid_t thread = 0;                                // 0: whichever of the process takes it
    int number = 0;
    std::optional<int> timer;  // a POSIX timer's id: its signal says that it is a timer's (SI_TIMER)
    std::uint64_t value = 0;                         // and what it was created with
  };
  std::vector<Signal> due(Nanoseconds now);          // those that are due; periodic ones are set again

 private:
  struct Timer {
    Nanoseconds due = 0;                             // 0: not set
    Nanoseconds interval = 0;
    int signal = 0;
    pid_t thread = 0;
    std::uint64_t value = 0;
  };
  static constexpr std::int64_t interval_timer = -1; // alarm and setitimer share one
  std::map<std::pair<pid_t, std::int64_t>, Timer> timers_;
};

}  // namespace jitrace
