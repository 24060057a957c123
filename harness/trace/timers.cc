#include "trace/timers.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>

namespace jitrace {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

Nanoseconds left(Nanoseconds due, const VirtualClock& clock) {
  return due == 0 ? 0 : std::max<Nanoseconds>(due - clock.now(), 1);
}

timeval as_timeval(Nanoseconds time) { return {time / second, time % second / 1000}; }
timespec as_timespec(Nanoseconds time) { return {time / second, time % second}; }

}  // namespace

std::optional<std::int64_t> Timers::set(pid_t process, const RawCall& call, const TraceeMemory& memory,
                                        const VirtualClock& clock) {
  if (call.number == SYS_alarm) {
    Timer& timer = timers_[{process, interval_timer}];
    const Nanoseconds before = left(timer.due, clock);
    const auto length = static_cast<Nanoseconds>(static_cast<std::uint32_t>(call.args[0])) * second;
    timer = {.due = length == 0 ? 0 : clock.now() + length, .interval = 0, .signal = SIGALRM};
    return (before + second - 1) / second;
  }
  if (call.number == SYS_setitimer) {
    if (static_cast<int>(call.args[0]) != ITIMER_REAL) return std::nullopt;
    Timer& timer = timers_[{process, interval_timer}];
    const itimerval old{as_timeval(timer.interval), as_timeval(left(timer.due, clock))};
    if (call.args[2] != 0 && !memory.write(call.args[2], &old, sizeof old)) return -EFAULT;
    if (call.args[1] == 0) return 0;
    const auto interval = read_timeval(memory, call.args[1]);
    const auto length = read_timeval(memory, call.args[1] + sizeof(timeval));
    if (!interval || !length) return -EINVAL;
    timer = {.due = *length == 0 ? 0 : clock.now() + *length, .interval = *interval, .signal = SIGALRM};
    return 0;
  }
  if (call.number == SYS_getitimer) {
    const auto found = timers_.find({process, interval_timer});
    if (static_cast<int>(call.args[0]) != ITIMER_REAL || found == timers_.end()) return std::nullopt;
    const itimerval shown{as_timeval(found->second.interval), as_timeval(left(found->second.due, clock))};
    return memory.write(call.args[1], &shown, sizeof shown) ? 0 : -EFAULT;
  }
  const auto found = timers_.find({process, static_cast<std::int64_t>(static_cast<int>(call.args[0]))});
  if (found == timers_.end()) return std::nullopt;
  Timer& timer = found->second;
  if (call.number == SYS_timer_delete) {
    timers_.erase(found);
    return std::nullopt;  // the kernel's own is to go, too
  }
  if (call.number == SYS_timer_gettime) {
    const itimerspec shown{as_timespec(timer.interval), as_timespec(left(timer.due, clock))};
    return memory.write(call.args[1], &shown, sizeof shown) ? 0 : -EFAULT;
  }
  if (call.number != SYS_timer_settime) return std::nullopt;
  const auto interval = read_timespec(memory, call.args[2]);
  const auto length = read_timespec(memory, call.args[2] + sizeof(timespec));
  if (!interval || !length) return -EINVAL;
  const itimerspec old{as_timespec(timer.interval), as_timespec(left(timer.due, clock))};
  if (call.args[3] != 0 && !memory.write(call.args[3], &old, sizeof old)) return -EFAULT;
  Nanoseconds due = 0;
  if (*length != 0) {
    const bool absolute = (call.args[1] & TIMER_ABSTIME) != 0;
    // An absolute time of another clock than the monotonic one is that far from what the clock shows.
    const Nanoseconds shown =
        *length > clock.now() + seconds(10LL * 365 * 86400) ? clock.read(CLOCK_REALTIME).value_or(0) : clock.now();
    due = clock.now() + (absolute ? *length - shown : *length);
  }
  timer.due = due;
  timer.interval = *interval;
  return 0;
}

void Timers::created(pid_t process, const RawCall& call, const TraceeMemory& memory) {
  const std::uint64_t clock = call.args[0];
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) return;
  int id = 0;
  if (!memory.read(call.args[2], &id, sizeof id)) return;
  sigevent event{};
  event.sigev_signo = SIGALRM;
  if (call.args[1] != 0 && !memory.read(call.args[1], &event, sizeof event)) return;
  if (call.args[1] != 0 && event.sigev_notify == SIGEV_NONE) event.sigev_signo = 0;
  Timer timer;
  timer.signal = event.sigev_signo;
  timer.value =
      call.args[1] == 0 ? static_cast<std::uint64_t>(id) : reinterpret_cast<std::uint64_t>(event.sigev_value.sival_ptr);
  if (call.args[1] != 0 && event.sigev_notify == SIGEV_THREAD_ID) timer.thread = event._sigev_un._tid;
  timers_[{process, id}] = timer;
}

void Timers::ended(pid_t process) {
  std::erase_if(timers_, [process](const auto& entry) { return entry.first.first == process; });
}

void Timers::replaced(pid_t process) {
  std::erase_if(timers_, [process](const auto& entry) {
    return entry.first.first == process && entry.first.second != interval_timer;
  });
}

std::optional<Nanoseconds> Timers::next_due() const {
  std::optional<Nanoseconds> next;
  for (const auto& [name, timer] : timers_) {
    if (timer.due != 0 && timer.signal != 0 && (!next || timer.due < *next)) next = timer.due;
  }
  return next;
}

std::vector<Timers::Signal> Timers::due(Nanoseconds now) {
  std::vector<Signal> out;
  for (auto& [name, timer] : timers_) {
    if (timer.due == 0 || timer.due > now) continue;
    if (timer.signal != 0) {
      Signal signal{
          .process = name.first, .thread = timer.thread, .number = timer.signal, .timer = {}, .value = timer.value};
      if (name.second != interval_timer) signal.timer = static_cast<int>(name.second);
      out.push_back(signal);
    }
    timer.due = timer.interval == 0 ? 0 : now + timer.interval;
  }
  return out;
}

}  // namespace jitrace
