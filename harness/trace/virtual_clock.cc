#include "trace/virtual_clock.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

namespace jitrace {
namespace {

constexpr std::int64_t second = 1'000'000'000;

std::optional<Nanoseconds> duration(std::int64_t whole, std::int64_t part, std::int64_t unit) {
  if (whole < 0 || part < 0 || part >= second / unit) return std::nullopt;
  constexpr std::int64_t longest = 4'000'000'000;  // seconds: a century is for ever, and its sum with now() still fits
  if (whole > longest) whole = longest;
  return whole * second + part * unit;
}

}  // namespace

std::optional<Nanoseconds> read_timespec(const TraceeMemory& memory, std::uint64_t address) {
  timespec time{};
  if (!memory.read(address, &time, sizeof time)) return std::nullopt;
  return duration(time.tv_sec, time.tv_nsec, 1);
}

std::optional<Nanoseconds> read_timeval(const TraceeMemory& memory, std::uint64_t address) {
  timeval time{};
  if (!memory.read(address, &time, sizeof time)) return std::nullopt;
  return duration(time.tv_sec, time.tv_usec, 1000);
}

std::optional<Nanoseconds> VirtualClock::read(std::uint64_t clock) const {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
      break;
    default:
      return std::nullopt;
  }
  timespec time{};
  if (::clock_gettime(static_cast<clockid_t>(clock), &time) != 0) return std::nullopt;
  return static_cast<Nanoseconds>(time.tv_sec) * second + time.tv_nsec + offset_;
}

std::optional<std::int64_t> VirtualClock::answer(const RawCall& call, const TraceeMemory& memory) const {
  if (offset_ == 0) return std::nullopt;
  if (call.number == SYS_clock_gettime) {
    const auto time = read(call.args[0]);
    if (!time) return std::nullopt;
    const timespec out{*time / second, *time % second};
    return memory.write(call.args[1], &out, sizeof out) ? 0 : -EFAULT;
  }
  const Nanoseconds time = *read(CLOCK_REALTIME);
  if (call.number == SYS_gettimeofday) {
    if (call.args[0] == 0) return std::nullopt;
    const timeval out{time / second, time % second / 1000};
    return memory.write(call.args[0], &out, sizeof out) ? 0 : -EFAULT;
  }
  if (call.number == SYS_time) {
    const std::int64_t whole = time / second;
    if (call.args[0] != 0 && !memory.write(call.args[0], &whole, sizeof whole)) return -EFAULT;
    return whole;
  }
  return std::nullopt;
}

std::optional<Nanoseconds> VirtualClock::end_of_sleep(const RawCall& call, const TraceeMemory& memory) const {
  if (call.number == SYS_nanosleep) {
    const auto length = read_timespec(memory, call.args[0]);
    if (!length) return std::nullopt;
    return now() + *length;
  }
  const auto time = read_timespec(memory, call.args[2]);
  if (!time) return std::nullopt;
  if ((call.args[1] & TIMER_ABSTIME) == 0) return now() + *time;
  const auto seen = read(call.args[0]);
  if (!seen) return std::nullopt;
  return now() + (*time - *seen);
}

}  // namespace jitrace
