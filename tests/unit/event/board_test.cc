#include "event/board.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <thread>

#include "process/reaper.h"
#include "unit/event/fixture.h"

namespace jitrace {
namespace {

TEST(Board, EventsComeBackWholeAndInOrder) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, 1000});
  for (std::uint64_t i = 0; i < 500; ++i) board.append(numbered(i));
  std::uint64_t next = 0;
  const auto events = board.read(&next);
  ASSERT_EQ(events.size(), 500u);
  EXPECT_EQ(next, 500u);
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(events[i].attempt, i);
    expect_numbered(events[i]);
    EXPECT_GE(events[i].stamp, events[i == 0 ? 0 : i - 1].stamp);
  }
  EXPECT_TRUE(board.read(&next).empty());
  board.append(numbered(500));
  EXPECT_EQ(board.read(&next).size(), 1u);
}

TEST(Board, LongTextsLoseTheirTail) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, 16});
  Event event;
  event.kind = EventKind::warned;
  event.text = std::string(event_text_limit, 'x') + "tail";
  board.append(event);
  std::uint64_t next = 0;
  EXPECT_EQ(board.read(&next).at(0).text, std::string(event_text_limit, 'x'));
}

TEST(Board, KeepsAStampThatIsSet) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, 16});
  Event event = numbered(1);
  event.stamp = 42;
  event.pid = 7;
  board.append(event);
  std::uint64_t next = 0;
  const auto back = board.read(&next);
  EXPECT_EQ(back.at(0).stamp, 42);
  EXPECT_EQ(back.at(0).pid, 7u);
}

TEST(Board, AForkedChildSignsWithItsOwnPid) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, 16});
  board.append(numbered(1));
  const pid_t child = ::fork();
  if (child == 0) {
    board.append(numbered(2));
    ::_exit(0);
  }
  ASSERT_TRUE(reap_forked(child));
  board.append(numbered(3));
  std::uint64_t next = 0;
  const auto events = board.read(&next);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(events[1].pid, static_cast<std::uint32_t>(child));
  EXPECT_EQ(events[2].pid, static_cast<std::uint32_t>(::getpid()));
}

TEST(Board, AFullLogDropsAndRemembers) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, 10});
  for (std::uint64_t i = 0; i < 10; ++i) board.append(numbered(i));
  EXPECT_FALSE(board.overflowed());
  for (std::uint64_t i = 10; i < 25; ++i) board.append(numbered(i));
  EXPECT_TRUE(board.overflowed());
  std::uint64_t next = 0;
  const auto events = board.read(&next, Board::Torn::skip);
  ASSERT_EQ(events.size(), 10u);
  for (const Event& event : events) expect_numbered(event);
  EXPECT_EQ(board.torn(), 0u);
  EXPECT_TRUE(board.read(&next).empty());
}

TEST(Board, ManyWritersLoseNothing) {
  constexpr std::uint64_t threads = 4, each = 5000;
  const TempDir dir = scratch();
  Board board = new_board(dir, {16, threads * each});
  std::vector<std::thread> writers;
  for (std::uint64_t t = 0; t < threads; ++t) {
    writers.emplace_back([&dir, t] {
      Board own = std::move(Board::attach(join(dir.path(), "board")).value());
      for (std::uint64_t i = 0; i < each; ++i) own.append(numbered(t * each + i));
    });
  }
  // Read while it is written: nothing half-written ever shows.
  std::uint64_t next = 0;
  std::set<std::uint64_t> seen;
  while (seen.size() < threads * each) {
    for (const Event& event : board.read(&next)) {
      expect_numbered(event);
      EXPECT_TRUE(seen.insert(event.attempt).second);
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_FALSE(board.overflowed());
}

TEST(Board, ACorruptedByteIsRecognisedWhereverItLies) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "board");
  Board board = new_board(dir, {4, 3});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    Event event = numbered(i);
    event.text = "what is in between";
    board.append(event);
  }
  const std::string whole = read_file(path).value();
  const std::size_t record = whole.size() - 2 * 256;  // the second of the three
  std::uint64_t next = 0;
  ASSERT_EQ(board.read(&next).size(), 3u);
  // Seal, stamp, kind, …, up to the end of the text; what lies behind the text is nobody's.
  const std::size_t used = whole.rfind("what is in between", record + 255) + 18 - record;
  ASSERT_LT(used, 256u);
  ASSERT_GT(used, 40u);
  const Fd file = std::move(open_fd(path, O_RDWR).value());
  for (std::size_t at = 0; at < used; ++at) {
    const char good = whole[record + at], bad = static_cast<char>(good ^ 0x10);
    ASSERT_EQ(::pwrite(file.get(), &bad, 1, static_cast<off_t>(record + at)), 1);
    Board reader = std::move(Board::attach(path).value());
    next = 0;
    EXPECT_EQ(reader.read(&next, Board::Torn::stop).size(), 1u) << "byte " << at;
    EXPECT_EQ(next, 1u);
    next = 0;
    EXPECT_EQ(reader.read(&next, Board::Torn::skip).size(), 2u) << "byte " << at;
    EXPECT_EQ(reader.torn(), 1u);
    ASSERT_EQ(::pwrite(file.get(), &good, 1, static_cast<off_t>(record + at)), 1);
  }
  next = 0;
  EXPECT_EQ(board.read(&next).size(), 3u);
}

TEST(Board, RefusesWhatIsNoBoard) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "other");
  EXPECT_EQ(Board::attach(path).error().code, ENOENT);
  ASSERT_TRUE(write_file(path, "short"));
  EXPECT_FALSE(Board::attach(path));
  ASSERT_TRUE(write_file(path, std::string(8192, 'x')));
  EXPECT_FALSE(Board::attach(path));
  ASSERT_EQ(::mkfifo((path + ".bell").c_str(), 0600), 0);
  EXPECT_THAT(Board::attach(path).error().message(), ::testing::HasSubstr("no board"));
  ASSERT_TRUE(Board::create(join(dir.path(), "board"), {4, 4}, 1));
  EXPECT_EQ(Board::create(join(dir.path(), "board"), {4, 4}, 1).error().code, EEXIST);
}

TEST(Board, CountsToolSlotsFromTheLastWorkers) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {6, 4}, 4);
  EXPECT_EQ(board.claim_slot(), 4);
  EXPECT_EQ(board.claim_slot(), 5);
  EXPECT_EQ(board.claim_slot(), driver_slot);
}

// --- Gates ---

bool rings(const Board& board) {
  pollfd bell{board.bell().get(), POLLIN, 0};
  return ::poll(&bell, 1, 20'000) == 1;
}

TEST(Gate, AnUnarmedPointHoldsNobody) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {4, 16});
  board.arm(Point::publish);
  Event event;
  event.slot = 1;
  event.point = Point::compile;
  EXPECT_EQ(board.reach(event), Order::go);
  board.disarm(Point::publish);
  event.point = Point::publish;
  EXPECT_EQ(board.reach(event), Order::go);
  std::uint64_t next = 0;
  const auto events = board.read(&next);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::reached);
  EXPECT_EQ(events[0].a, 0);
  EXPECT_EQ(events[1].kind, EventKind::reached);
}

TEST(Gate, AnArmedPointHoldsUntilTheOrder) {
  for (const Order wanted : {Order::go, Order::exit_137}) {
    const TempDir dir = scratch();
    Board board = new_board(dir, {4, 16});
    board.arm(Point::output);
    Order got = Order::none;
    std::thread worker([&] {
      Board own = std::move(Board::attach(board.path()).value());
      Event event;
      event.slot = 2;
      event.point = Point::output;
      event.attempt = 77;
      got = own.reach(event);
    });
    ASSERT_TRUE(rings(board));
    board.clear_bell();
    std::uint64_t next = 0;
    auto events = board.read(&next);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, EventKind::reached);
    EXPECT_EQ(events[0].a, 1);
    // An order to another slot is none of its business.
    board.order(1, Order::go);
    EXPECT_TRUE(board.read(&next).empty());
    board.order(2, wanted);
    worker.join();
    EXPECT_EQ(got, wanted);
    events = board.read(&next);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, EventKind::resumed);
    EXPECT_EQ(events[0].attempt, 77u);
    EXPECT_EQ(events[0].point, Point::output);
  }
}

TEST(Gate, AnOrderOfTheLastStopDoesNotOpenTheNext) {
  const TempDir dir = scratch();
  Board board = new_board(dir, {4, 16});
  board.arm(Point::output);
  std::thread worker([&] {
    Event event;
    event.slot = 0;
    event.point = Point::output;
    board.reach(event);
    board.reach(event);
  });
  std::uint64_t next = 0;
  std::vector<Event> events;
  const auto wait_for = [&](std::size_t count) {
    while (events.size() < count) {
      EXPECT_TRUE(rings(board));
      board.clear_bell();
      for (Event& event : board.read(&next)) events.push_back(std::move(event));
    }
  };
  wait_for(1);
  board.order(0, Order::go);
  wait_for(3);
  EXPECT_EQ(events[1].kind, EventKind::resumed);
  EXPECT_EQ(events[2].kind, EventKind::reached);
  EXPECT_TRUE(board.read(&next).empty()) << "it went through the second gate without an order";
  board.order(0, Order::go);
  worker.join();
}

TEST(Gate, ARoundStartsEverybodyTogether) {
  constexpr int workers = 8;
  const TempDir dir = scratch();
  Board board = new_board(dir, {workers, 100}, workers);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&board, i] { board.wait_for_start(static_cast<Slot>(i), 1); });
  }
  std::uint64_t next = 0;
  std::vector<Event> events;
  const auto wait_for = [&](std::size_t count) {
    while (events.size() < count) {
      for (Event& event : board.read(&next)) events.push_back(std::move(event));
    }
  };
  wait_for(workers);
  for (const Event& event : events) EXPECT_EQ(event.kind, EventKind::ready);
  const Nanoseconds started = now();
  board.start(1);
  for (std::thread& thread : threads) thread.join();
  wait_for(2 * workers);
  for (std::size_t i = workers; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, EventKind::released);
    EXPECT_GE(events[i].stamp, started);
  }
  // Who comes late to a round that runs is let in; one for the next round waits.
  board.wait_for_start(0, 1);
  std::thread late([&board] { board.wait_for_start(0, 2); });
  wait_for(2 * workers + 3);
  board.start(2);
  late.join();
}

}  // namespace
}  // namespace jitrace
