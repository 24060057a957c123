#include "trace/spinning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "process/proc.h"

namespace jitrace {
namespace {

constexpr Spinning::Bounds bounds{.calls = 100, .patience = 0, .round = 16, .program = 40, .work = milliseconds(1)};
const std::size_t look = call_key("stat lock", "lock", "");

void look_once(Spinning& spinning) {
  spinning.answered();
  spinning.looked(::gettid(), look, -2);
}

void compute(Nanoseconds time) {
  const Nanoseconds end = proc_cpu_time(::gettid()).value() + time;
  while (proc_cpu_time(::gettid()).value() < end) {
  }
}

TEST(Spinning, TheSameLooksAreARoundInTheEnd) {
  Spinning spinning(bounds);
  int looks = 0;
  for (; looks < 1000 && !spinning.round_is_over(); ++looks) look_once(spinning);
  EXPECT_EQ(looks, 100 + 16 + 1);
  EXPECT_TRUE(spinning.spins(::gettid()));
  EXPECT_FALSE(spinning.spins(1));
  spinning.next_round();
  EXPECT_FALSE(spinning.spins(::gettid()));
  for (looks = 0; looks < 1000 && !spinning.round_is_over(); ++looks) look_once(spinning);
  EXPECT_EQ(looks, 16 + 1);
}

TEST(Spinning, WhoeverAsksForMoreIsAtWork) {
  Spinning spinning(bounds);
  for (std::size_t i = 0; i < 50; ++i) {
    for (int looks = 0; looks < 90; ++looks) {
      look_once(spinning);
      ASSERT_FALSE(spinning.round_is_over()) << i;
    }
    if (i % 3 == 0) spinning.called(call_key("openat", "/usr/include/" + std::to_string(i), ""));
    else if (i % 3 == 1) spinning.looked(::gettid(), look, -static_cast<std::int64_t>(i));
    else spinning.progressed();
  }
}

TEST(Spinning, WhoeverComputesBetweenTwoLooksIsAtWork) {
  Spinning spinning(bounds);
  for (int looks = 0; looks < 300; ++looks) {
    look_once(spinning);
    compute(milliseconds(3));
    ASSERT_FALSE(spinning.round_is_over()) << looks;
  }
}

TEST(Spinning, NoRoundEndsInTheMiddleOfATry) {
  Spinning spinning(bounds);
  for (int tries = 0; tries < 1000; ++tries) {
    spinning.made("mine");
    look_once(spinning);
    ASSERT_FALSE(spinning.round_is_over());
    spinning.took_back("mine");
    if (spinning.round_is_over()) return;
  }
  FAIL() << "no round was over";
}

}  // namespace
}  // namespace jitrace
