#pragma once

#include <cstdint>

namespace jitrace {

// CLOCK_MONOTONIC in nanoseconds: the one clock of all processes of a trial on one machine.
using Nanoseconds = std::int64_t;

constexpr Nanoseconds milliseconds(std::int64_t n) { return n * 1'000'000; }
constexpr Nanoseconds seconds(std::int64_t n) { return n * 1'000'000'000; }
constexpr double to_ms(Nanoseconds n) { return static_cast<double>(n) / 1e6; }

Nanoseconds now();

}  // namespace jitrace
