#include "search/kill_classes.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace jitrace {
namespace {

using testing::ElementsAre;

Recording two_processes() {
  Recording recording;
  recording.processes = {{"A", "python3", -1, 10}, {"A/as", "as", 0, 11}};
  return recording;
}

void look(Recording& recording, int process, std::string what) {
  recording.calls.push_back({.process = process, .what = std::move(what)});
}

void change(Recording& recording, int process, std::string what) {
  recording.calls.push_back({.process = process, .what = std::move(what), .changed = true});
}

std::vector<std::string> steps(const std::vector<KillClass>& classes) {
  std::vector<std::string> result;
  for (const KillClass& one : classes) result.push_back(one.step.text() + " = " + std::to_string(one.points));
  return result;
}

TEST(KillClasses, OpenAfterEachChange) {
  Recording recording = two_processes();
  look(recording, 0, "stat lock");
  change(recording, 0, "open lock");
  look(recording, 0, "stat e.o");
  look(recording, 1, "stat e.o");
  change(recording, 1, "open e.o");
  change(recording, 0, "unlink lock");
  const auto classes = kill_classes(recording, Writes::ends);
  EXPECT_THAT(steps(classes), ElementsAre("before A: stat lock = 3", "after A: open lock = 6",
                                          "after A/as: open e.o = 2", "after A: unlink lock = 1"));
  EXPECT_EQ(classes[2].call, 4u);
}

TEST(KillClasses, ARunThatBeginsWithAChangeHasOnePointBefore) {
  Recording recording = two_processes();
  change(recording, 0, "mkdir k");
  EXPECT_THAT(steps(kill_classes(recording, Writes::ends)),
              ElementsAre("before A: mkdir k = 1", "after A: mkdir k = 1"));
  EXPECT_TRUE(kill_classes(two_processes(), Writes::ends).empty()) << "no call, no moment";
}

TEST(KillClasses, KeepTheEndsAndTheMiddleOfARunOfWrites) {
  Recording recording = two_processes();
  change(recording, 1, "open e.o");
  for (int i = 0; i < 9; ++i) {
    change(recording, 1, "write e.o");
    look(recording, 0, "stat e.o");  // looks do not end a run
  }
  change(recording, 1, "close e.o");
  const auto classes = kill_classes(recording, Writes::ends);
  EXPECT_THAT(steps(classes),
              ElementsAre("before A/as: open e.o = 1", "after A/as: open e.o = 2", "after A/as: write e.o = 16",
                          "after A/as: write e.o (5) = 16", "after A/as: write e.o (9) = 4",
                          "after A/as: close e.o = 1"));
  std::vector<std::size_t> skipped;
  for (const KillClass& one : classes) skipped.push_back(one.skipped);
  EXPECT_THAT(skipped, ElementsAre(0, 0, 3, 3, 0, 0));
  EXPECT_EQ(kill_classes(recording, Writes::all).size(), 12u);
}

TEST(KillClasses, AShortRunIsKeptWhole) {
  for (std::size_t writes = 1; writes <= 4; ++writes) {
    Recording recording = two_processes();
    for (std::size_t i = 0; i < writes; ++i) change(recording, 1, "write e.o");
    EXPECT_EQ(kill_classes(recording, Writes::ends).size(), 1 + std::min<std::size_t>(writes, 3)) << writes;
  }
}

TEST(KillClasses, AnotherChangeEndsARun) {
  Recording recording = two_processes();
  const auto writes = [&](int process, const std::string& file) {
    for (int i = 0; i < 5; ++i) change(recording, process, "write " + file);
  };
  writes(1, "a.o");
  writes(1, "b.o");
  writes(0, "b.o");
  change(recording, 1, "rename b.o c.o");
  writes(0, "b.o");
  EXPECT_EQ(kill_classes(recording, Writes::ends).size(), 1 + 4 * 3 + 1u);
  // What is no write is never a run.
  Recording links = two_processes();
  for (int i = 0; i < 5; ++i) change(links, 0, "link a b");
  EXPECT_EQ(kill_classes(links, Writes::ends).size(), 6u);
}

TEST(KillClasses, CountOccurrencesByRoleAndOnlyRoundOne) {
  Recording recording = two_processes();
  recording.processes.push_back({"A/as", "as again", 0, 12});
  change(recording, 1, "open e.o");
  change(recording, 0, "open e.o");
  recording.calls.push_back({.process = 1, .round = 2, .what = "open e.o", .changed = true});
  change(recording, 2, "open e.o");
  EXPECT_THAT(steps(kill_classes(recording, Writes::ends)),
              ElementsAre("before A/as: open e.o = 1", "after A/as: open e.o = 2", "after A: open e.o = 2",
                          "after A/as: open e.o (2) = 1"));
}

TEST(KillClasses, HoldEveryPointOnceAndNameEachMomentOnce) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    Recording recording = two_processes();
    std::size_t calls = 0, changes = 0;
    const auto length = rng.below(200);
    for (std::uint64_t i = 0; i < length; ++i) {
      const char* what[] = {"write e.o", "write e.o", "write e.o", "write k.so", "stat e.o", "rename a b"};
      RecordedCall call;
      call.process = static_cast<int>(rng.below(10) == 0);
      call.round = rng.below(12) == 0 ? 2 : 1;
      call.what = what[rng.below(6)];
      call.changed = !call.what.starts_with("stat");
      recording.calls.push_back(call);
      calls += call.round == 1 ? 1 : 0;
      changes += call.round == 1 && call.changed ? 1 : 0;
    }
    for (const Writes writes : {Writes::ends, Writes::all}) {
      const auto classes = kill_classes(recording, writes);
      std::size_t points = 0, stood_for = 0;
      std::set<std::string> names;
      for (const KillClass& one : classes) {
        EXPECT_GT(one.points, 0u);
        points += one.points;
        stood_for += one.skipped + (one.step.side == Side::after ? 1 : 0);
        EXPECT_TRUE(names.insert(one.step.text()).second) << one.step.text();
        EXPECT_EQ(recording.calls[one.call].what, one.step.what);
        EXPECT_TRUE(writes == Writes::ends || one.skipped == 0);
      }
      EXPECT_EQ(points, 2 * calls);
      EXPECT_EQ(stood_for, changes);
    }
  }
}

}  // namespace
}  // namespace jitrace
