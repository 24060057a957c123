#include "trace/timer_descriptors.h"

#include <linux/kcmp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "process/proc.h"

namespace jitrace {
namespace {

constexpr Nanoseconds second = 1'000'000'000;
constexpr Nanoseconds for_ever = 4'000'000'000 * second;  // as VirtualClock has it: its sum with a clock still fits
constexpr int firing_ms = 10;  // the kernel's interrupt for what is due already: microseconds

timespec as_timespec(Nanoseconds time) { return {time / second, time % second}; }
Nanoseconds nanoseconds_of(const timespec& time) {
  return time.tv_sec >= for_ever / second ? for_ever : static_cast<Nanoseconds>(time.tv_sec) * second + time.tv_nsec;
}

// What the alarm clocks show is what their sisters show.
int plain_clock(int clock) {
  if (clock == CLOCK_REALTIME_ALARM) return CLOCK_REALTIME;
  return clock == CLOCK_BOOTTIME_ALARM ? CLOCK_BOOTTIME : clock;
}

std::optional<std::uint64_t> field_of(const std::string& text, const std::string& name, int base) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + name.size(), nullptr, base);
}

// As fdinfo tells of it; nothing: another file than a timer.
struct Told {
  int clock = 0, flags = 0;
  std::uint64_t ticks = 0;
};
std::optional<Told> told_of(const Fd& timer) {
  const auto text = read_file("/proc/self/fdinfo/" + std::to_string(timer.get()));
  if (!text) return std::nullopt;
  const auto clock = field_of(*text, "clockid:", 10), ticks = field_of(*text, "ticks:", 10), flags = field_of(*text, "settime flags:", 8);
  if (!clock || !ticks || !flags) return std::nullopt;
  return Told{plain_clock(static_cast<int>(*clock)), static_cast<int>(*flags), *ticks};
}

// Not a valid one: errno says why.
Fd take(pid_t process, int descriptor) {
  const auto pidfd = open_pidfd(process);
  return pidfd ? Fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd->get(), descriptor, 0))) : Fd();
}

// Where a kernel has no kcmp, two are taken for two.
bool is_same(pid_t one, int fd, pid_t other, int other_fd) {
  return ::syscall(SYS_kcmp, one, other, KCMP_FILE, static_cast<unsigned long>(fd), static_cast<unsigned long>(other_fd)) == 0;
}

// What a timer says of itself at one moment.
struct Left {
  Told told;
  Nanoseconds rest = 0, interval = 0;
  Nanoseconds due = 0;  // on the machine's clock
};

// Whoever is held up between the looks would take it for due later than it is, or miss a period.
std::optional<Left> left_of(const Fd& timer) {
  constexpr Nanoseconds at_once = 200'000;
  auto told = told_of(timer);
  if (!told) return std::nullopt;
  Left left;
  for (int tries = 0; tries < 20; ++tries) {
    timespec before{}, after{};
    itimerspec setting{};
    ::clock_gettime(told->clock, &before);
    // Asked first: it brings the count of one that repeats up to now.
    if (::timerfd_gettime(timer.get(), &setting) != 0) return std::nullopt;
    told = told_of(timer);
    if (!told) return std::nullopt;
    ::clock_gettime(told->clock, &after);
    const Nanoseconds rest = nanoseconds_of(setting.it_value);
    left = {*told, rest, nanoseconds_of(setting.it_interval), nanoseconds_of(before) + rest};
    if (nanoseconds_of(after) - nanoseconds_of(before) < at_once) break;
  }
  return left;
}

std::vector<int> timers_of(pid_t process) {
  std::vector<int> found;
  const std::string fds = "/proc/" + std::to_string(process) + "/fd";
  const auto names = list_dir(fds);
  if (!names) return found;
  for (const std::string& name : *names) {
    char target[64];
    const ssize_t length = ::readlink((fds + "/" + name).c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == "anon_inode:[timerfd]") {
      found.push_back(static_cast<int>(std::strtol(name.c_str(), nullptr, 10)));
    }
  }
  return found;
}

}  // namespace

std::optional<std::int64_t> TimerDescriptors::set(pid_t process, const RawCall& call, const TraceeMemory& memory,
                                                  const VirtualClock& clock) {
  itimerspec asked{};
  if (!memory.read(call.args[2], &asked, sizeof asked)) return -EFAULT;
  const Fd fd = take(process, static_cast<int>(call.args[0]));
  if (!fd) return errno == EBADF ? std::optional<std::int64_t>(-EBADF) : std::nullopt;
  if (!told_of(fd)) return -EINVAL;
  const auto first = read_timespec(memory, call.args[2] + sizeof(timespec));
  if (!first) return -EINVAL;
  const int flags = static_cast<int>(call.args[1]);
  // A time on a clock that was moved is as far from that as the kernel's is from its own.
  if ((flags & TFD_TIMER_ABSTIME) != 0 && *first != 0) {
    asked.it_value = as_timespec(std::max<Nanoseconds>(*first - clock.offset(), 1));
  }
  itimerspec old{};
  if (::timerfd_settime(fd.get(), flags, &asked, &old) != 0) return -errno;
  if (call.args[3] != 0 && !memory.write(call.args[3], &old, sizeof old)) return -EFAULT;
  used_ = true;
  return 0;
}

// The kernel's timers are always set to the moved time, so what they say of themselves is how it is.
std::optional<Nanoseconds> TimerDescriptors::next_due(const std::vector<pid_t>& living, const VirtualClock& clock) {
  armed_.clear();
  std::optional<Nanoseconds> next;
  for (const pid_t process : living) {
    for (const int number : timers_of(process)) {
      const bool known = std::any_of(armed_.begin(), armed_.end(),
                                     [&](const Armed& other) { return is_same(process, number, other.process, other.fd); });
      const Fd fd = known ? Fd() : take(process, number);
      const auto left = fd ? left_of(fd) : std::nullopt;
      if (!left || left->rest == 0) continue;  // not set, or over: it stays as it is
      armed_.push_back({process, number, left->told.flags & TFD_TIMER_CANCEL_ON_SET, left->rest, left->due, left->interval,
                        left->told.ticks});
      // Who waits for one that went off already was woken by that.
      if (left->told.ticks == 0 && left->rest < for_ever && (!next || clock.now() + left->rest < *next)) next = clock.now() + left->rest;
    }
  }
  return next;
}

void TimerDescriptors::passed(Nanoseconds time) {
  for (const Armed& timer : armed_) {
    const Fd fd = timer.rest < for_ever ? take(timer.process, timer.fd) : Fd();
    if (!fd) continue;
    // One that is overdue goes off at once, with the count of all its periods since then: those that were not read, too.
    const Nanoseconds before = static_cast<Nanoseconds>(std::min<std::uint64_t>(timer.unread, 1'000'000)) * timer.interval;
    const Nanoseconds at = std::max<Nanoseconds>(timer.due - time - before, 1);
    const itimerspec anew{as_timespec(timer.interval), as_timespec(at)};
    if (::timerfd_settime(fd.get(), TFD_TIMER_ABSTIME | timer.flags, &anew, nullptr) != 0) continue;
    if (timer.rest > time && timer.unread == 0) continue;
    pollfd fired{fd.get(), POLLIN, 0};
    (void)::poll(&fired, 1, firing_ms);  // a reader may be quicker than this look; then it is the whole wait
  }
  armed_.clear();
}

}  // namespace jitrace
