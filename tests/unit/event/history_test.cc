#include "event/history.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "event/checksum.h"
#include "unit/event/fixture.h"

namespace jitrace {
namespace {

std::string random_text(Rng& rng) {
  static const std::string letters("ab =\\\n\r\t\0#:/", 13);
  std::string text;
  for (std::uint64_t n = rng.below(20); n > 0; --n) text += letters[rng.below(letters.size())];
  return text;
}

Event random_event(Rng& rng) {
  Event event;
  event.stamp = static_cast<Nanoseconds>(rng.next() >> 1);
  event.kind = static_cast<EventKind>(rng.below(static_cast<std::uint64_t>(EventKind::time_passed) + 1));
  event.point = static_cast<Point>(rng.below(point_count));
  event.slot = rng.below(3) == 0 ? driver_slot : static_cast<Slot>(rng.below(600));
  event.key = static_cast<std::uint16_t>(rng.below(4));
  event.pid = static_cast<std::uint32_t>(rng.below(1u << 22));
  event.attempt = rng.below(2) == 0 ? 0 : rng.next();
  event.a = static_cast<std::int64_t>(rng.next());
  event.b = static_cast<std::int64_t>(rng.below(3)) - 1;
  event.text = random_text(rng);
  return event;
}

SnapshotEntry random_entry(Rng& rng) { return {random_text(rng), rng.below(1ull << 40), rng.next(), rng.next(), random_text(rng)}; }

void expect_same(const Event& a, const Event& b) {
  EXPECT_EQ(a.stamp, b.stamp);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.slot, b.slot);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.pid, b.pid);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.a, b.a);
  EXPECT_EQ(a.b, b.b);
  EXPECT_EQ(a.text, b.text);
}

void expect_same(const SnapshotEntry& a, const SnapshotEntry& b) {
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.state, b.state);
}

TEST(Checksum, OfAFileIsThatOfItsBytes) {
  const TempDir dir = std::move(TempDir::create(P_tmpdir, "jitrace-test").value());
  const std::string path = join(dir.path(), "file");
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes += static_cast<char>(i * 7 + i / 1000);
  for (const std::string& content : {std::string(), std::string("x"), bytes}) {
    ASSERT_TRUE(write_file(path, content));
    const auto sum = checksum_of_file(path);
    ASSERT_TRUE(sum);
    EXPECT_EQ(sum->bytes, content.size());
    EXPECT_EQ(sum->checksum, checksum64(content));
  }
  EXPECT_EQ(checksum_of_file(dir.path()).error().code, EINVAL);
}

TEST(History, AnyHistoryComesBack) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    History history;
    history.plan = "jitrace plan 1\nseed 7\n" + random_text(rng);
    history.cache = random_text(rng);
    history.torn_records = rng.below(3);
    if (round % 2 == 0) history.failure = random_text(rng);
    for (std::uint64_t n = rng.below(30); n > 0; --n) history.events.push_back(random_event(rng));
    for (std::uint64_t n = rng.below(5); n > 0; --n) history.snapshot.push_back(random_entry(rng));
    for (std::uint64_t n = rng.below(5); n > 0; --n) history.residue.push_back(random_entry(rng));

    const auto back = History::parse(history.text());
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->plan, history.plan);
    EXPECT_EQ(back->cache, history.cache);
    EXPECT_EQ(back->torn_records, history.torn_records);
    EXPECT_EQ(back->failure, history.failure);
    ASSERT_EQ(back->events.size(), history.events.size());
    for (std::size_t i = 0; i < history.events.size(); ++i) expect_same(back->events[i], history.events[i]);
    ASSERT_EQ(back->snapshot.size(), history.snapshot.size());
    for (std::size_t i = 0; i < history.snapshot.size(); ++i) expect_same(back->snapshot[i], history.snapshot[i]);
    ASSERT_EQ(back->residue.size(), history.residue.size());
    for (std::size_t i = 0; i < history.residue.size(); ++i) expect_same(back->residue[i], history.residue[i]);
    EXPECT_EQ(back->text(), history.text());
  }
}

TEST(History, RefusesWhatItDoesNotUnderstand) {
  const std::string head = "jitrace history 1\nplan p\ntorn_records 0\n";
  EXPECT_TRUE(History::parse(head));
  EXPECT_FALSE(History::parse("jitrace history 2\nplan p\ntorn_records 0\n"));
  EXPECT_FALSE(History::parse("jitrace history 1\ntorn_records 0\n"));
  for (const char* bad : {"event t=x kind=ready", "event t=1 kind=nothing", "event t=1", "event t=1 kind=ready point=nowhere",
                          "event t=1 kind=ready attempt=xyz", "event t=1 kind", "file path=a size=big"}) {
    EXPECT_FALSE(History::parse(head + bad + "\n")) << bad;
  }
}

// Mutated histories are errors or other histories, never a crash.
TEST(History, MutatedTextsNeverCrash) {
  Rng rng(4);
  History history;
  history.plan = "p";
  for (int i = 0; i < 20; ++i) history.events.push_back(random_event(rng));
  history.snapshot.push_back(random_entry(rng));
  const std::string text = history.text();
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string mutated = text;
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(mutated.size());
      if (rng.below(2) == 0) mutated[at] = static_cast<char>(rng.next());
      else mutated.erase(at, 1 + rng.below(20));
    }
    if (!History::parse(mutated)) ++refused;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace jitrace
