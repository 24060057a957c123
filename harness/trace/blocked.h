#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "trace/virtual_clock.h"

namespace jitrace {

// What a thread that sleeps in the kernel waits for, read from /proc. A snapshot: only two equal ones, with all others
// asleep or stopped at both, say that nobody moves.
struct BlockedThread {
  enum class On {
    child,     // wait4, waitid: of its own, so within the tree
    thread,    // futex
    pipe,      // read or write of a pipe
    events,    // poll, select, epoll, a signal: whatever it watches
    outside,   // a socket, a terminal, anything that somebody outside of the tree may end
  };
  On on = On::outside;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
  std::string call;                 // number, arguments, stack: the same for a sleep that was broken into and goes on
  std::string key;                  // equal for the same sleep only: call and context switches
  std::optional<Nanoseconds> after; // it wakes by itself so much later than it began
  std::optional<Nanoseconds> due;   // or at this virtual time
  std::string what;                 // "waits for a child", "poll"
};

// Whether the thread is known to have started a child by vfork and has come to no stop since: then a sleep that no
// signal ends is that for the child, else a disk is on the way.
enum class Vfork { no, yes };
// Nothing: it runs, or is on the way to.
std::optional<BlockedThread> blocked_thread(pid_t process, pid_t thread, Vfork vfork, const VirtualClock& clock);

// It sleeps in a call that starts a child, and cannot be stopped.
bool sleeps_deep_in_fork(pid_t process, pid_t thread);
// A first thread that has ended before others of its process.
bool is_ended_leader(pid_t process, pid_t thread);

// The signals that would end a wait of this stopped thread: pending, not blocked, and either handled or fatal.
bool has_deliverable_signal(pid_t thread);

}  // namespace jitrace
