#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>
#include <set>

#include "base/clock.h"
#include "base/rng.h"
#include "process/reaper.h"
#include "unit/event/fixture.h"

namespace jitrace {
namespace {

// A writer that is SIGKILLed at any instruction leaves whole records and at most one torn one. The moment is random;
// what is asserted holds at every moment.
TEST(BoardCrash, SurvivesSigkillAtAnyInstruction) {
  constexpr int rounds = 100;
  constexpr std::uint32_t records = 200'000;
  Rng rng(20);
  const TempDir dir = scratch();
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  // What the writer has finished, by its own word.
  auto* done = new (memory) std::atomic<std::uint64_t>(0);
  std::uint64_t killed_in_the_middle = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string path = join(dir.path(), "board" + std::to_string(round));
    Board board = std::move(Board::create(path, {4, records + 1}, 1).value());
    done->store(0);
    const pid_t writer = ::fork();
    if (writer == 0) {
      for (std::uint64_t i = 0; i < records; ++i) {
        board.append(numbered(i));
        done->store(i + 1, std::memory_order_release);
      }
      ::_exit(0);
    }
    const std::uint64_t wait_for = 1 + rng.below(500);
    while (done->load(std::memory_order_acquire) < wait_for) {
    }
    for (std::uint64_t spin = rng.below(2000); spin > 0; --spin) done->load(std::memory_order_acquire);
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    const auto end = reap_forked(writer);
    ASSERT_TRUE(end);
    killed_in_the_middle += end->is_kill(SIGKILL) ? 1 : 0;

    std::uint64_t next = 0;
    const auto events = board.read(&next, Board::Torn::skip);
    ASSERT_GE(events.size(), done->load()) << "a finished event is lost";
    EXPECT_LE(events.size(), done->load() + 1);
    EXPECT_LE(board.torn(), 1u);
    EXPECT_EQ(next, events.size() + board.torn());
    for (std::uint64_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].attempt, i);
      expect_numbered(events[i]);
    }
    // Whoever comes after appends behind what is torn.
    board.append(numbered(1'000'003));
    const auto more = board.read(&next, Board::Torn::skip);
    ASSERT_EQ(more.size(), 1u);
    expect_numbered(more[0]);
    ASSERT_TRUE(remove_file(path));
    ASSERT_TRUE(remove_file(path + ".bell"));
  }
  EXPECT_GT(killed_in_the_middle, rounds / 2u);
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace jitrace
