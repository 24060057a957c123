#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "trace/call.h"
#include "trace/registers.h"
#include "trace/tracee_memory.h"

namespace jitrace {

// The time that traced processes see: the machine's, moved on by what was passed while nobody could move. All clocks
// are moved alike but those of CPU time. rdtsc is not covered, and files keep the machine's time.
class VirtualClock {
 public:
  Nanoseconds now() const { return jitrace::now() + offset_; }   // CLOCK_MONOTONIC as they see it
  Nanoseconds offset() const { return offset_; }
  void pass(Nanoseconds time) { offset_ += time; }
  // As they see that clock; nothing: it is not moved (CPU time), or there is none of that number.
  std::optional<Nanoseconds> read(std::uint64_t clock) const;

  // A read of a clock: writes the moved time and the answer. Nothing: the kernel's own answer is right.
  std::optional<std::int64_t> answer(const RawCall& call, const TraceeMemory& memory) const;
  // When a nanosleep or clock_nanosleep is over; nothing if its argument cannot be read (the kernel will say so).
  std::optional<Nanoseconds> end_of_sleep(const RawCall& call, const TraceeMemory& memory) const;

 private:
  Nanoseconds offset_ = 0;
};

// A struct timespec; nothing if it cannot be read or is not valid.
std::optional<Nanoseconds> read_timespec(const TraceeMemory& memory, std::uint64_t address);
std::optional<Nanoseconds> read_timeval(const TraceeMemory& memory, std::uint64_t address);

}  // namespace jitrace
