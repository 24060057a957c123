#include "verdict/sweep_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jitrace {
namespace {

using testing::ElementsAre;

class SweepCells : public testing::Test {
 protected:
  SweepCells() {
    good_.snapshot = {file("k.so", 11), file(".log", 1)};
    other_.snapshot = {file("k.so", 11), file(".log", 2)};
    reference_ = SweepReference::of({&good_, &other_});
    history_.snapshot = good_.snapshot;
  }
  static SnapshotEntry file(const std::string& path, std::uint64_t digest) {
    SnapshotEntry entry;
    entry.path = path;
    entry.digest = digest;
    entry.size = 4;
    return entry;
  }
  void round(int number, Outcome outcome, const std::string& text = "") {
    add(EventKind::round_begin, number, 100 * number, number);
    add(EventKind::outcome, number, 100 * number + 40, static_cast<std::int64_t>(outcome), text);
  }
  void add(EventKind kind, int round, Nanoseconds stamp, std::int64_t a, const std::string& text = "") {
    Event event;
    event.kind = kind;
    event.key = static_cast<std::uint16_t>(round);
    event.stamp = stamp;
    event.a = a;
    event.text = text;
    history_.events.push_back(event);
  }
  SweepCell judge(SweepColumn column = SweepColumn::tree) const { return judge_sweep(history_, reference_, column); }

  History good_, other_, history_;
  SweepReference reference_;
};

TEST_F(SweepCells, WhatDiffersBetweenFaultFreeRunsIsNoArtifact) {
  EXPECT_EQ(reference_.artifacts.size(), 1u);
  EXPECT_TRUE(reference_.artifacts.contains("k.so"));
  EXPECT_TRUE(reference_.names.contains(".log"));
}

TEST_F(SweepCells, OfWhatVariesOnlyThatItIsThereIsJudged) {
  EXPECT_TRUE(reference_.varying.contains(".log"));
  round(1, Outcome::killed_by_plan);
  round(2, Outcome::served);
  history_.snapshot[1].digest = 77;
  EXPECT_EQ(judge().end, SweepEnd::recovered);
  history_.snapshot[1].size = 0;
  EXPECT_EQ(judge().end, SweepEnd::torn);
  EXPECT_EQ(judge().detail, "the fresh process was content, and .log is empty");
  history_.snapshot.pop_back();
  EXPECT_EQ(judge().detail, "the fresh process was content, and .log is not there");
}

TEST_F(SweepCells, WhatIsEmptyOrMissingInAFaultFreeRunIsNotAskedFor) {
  good_.snapshot.push_back(file("sometimes", 5));
  good_.snapshot.push_back(file("grows", 6));
  other_.snapshot.push_back(file("grows", 7));
  good_.snapshot.back().size = 0;
  reference_ = SweepReference::of({&good_, &other_});
  EXPECT_EQ(reference_.varying, std::set<std::string>{".log"});
}

// One with a fresh process, one as another worker: they show what varies, and only what was served shows anything.
TEST_F(SweepCells, OtherRunsMakeNothingAnArtifactAndTakeNoneForAnotherRankThatWaits) {
  const auto ended = [](History& run, int round, Outcome outcome) {
    Event event;
    event.kind = EventKind::outcome;
    event.key = static_cast<std::uint16_t>(round);
    event.a = static_cast<std::int64_t>(outcome);
    run.events.push_back(event);
  };
  good_.snapshot = other_.snapshot = {file("k.so", 11), file("log", 1), file("first", 3)};
  History used = good_;
  used.snapshot = {file("k.so", 11), file("log", 2), file("third", 9)};
  ended(used, 1, Outcome::served);
  ended(used, 2, Outcome::served);
  History rank;
  ended(rank, 1, Outcome::served);
  const auto told = SweepReference::of({&good_, &other_}, {&used, &rank});
  EXPECT_EQ(told.artifacts, (std::map<std::string, std::uint64_t>{{"k.so", 11}})) << "what a second use takes away is none";
  EXPECT_EQ(told.varying, std::set<std::string>{"log"});
  History failed = used;
  failed.events.back().a = static_cast<std::int64_t>(Outcome::failed);
  EXPECT_EQ(SweepReference::of({&good_, &other_}, {&failed}).artifacts.size(), 3u);
}

TEST_F(SweepCells, AFailureBehindAWaitForOutsideIsNotTold) {
  round(1, Outcome::killed_by_plan);
  add(EventKind::warned, 1, 150, 0, "A/timeout: " + std::string(waited_outside));
  round(2, Outcome::failed, "exit 124");
  EXPECT_EQ(judge().end, SweepEnd::failed) << "who was killed had waited, and not who failed";
  add(EventKind::warned, 2, 150, 0, "B/timeout: " + std::string(waited_outside));
  round(2, Outcome::failed, "exit 124");
  EXPECT_EQ(judge().end, SweepEnd::inconclusive);
  EXPECT_NE(judge().detail.find("somebody outside"), std::string::npos);
}

TEST_F(SweepCells, AServedFreshProcessIsARecovery) {
  round(1, Outcome::killed_by_plan);
  round(2, Outcome::served);
  const SweepCell cell = judge();
  EXPECT_EQ(cell.end, SweepEnd::recovered);
  EXPECT_EQ(cell.recovery, 40);
  EXPECT_TRUE(cell.left.empty());
}

TEST_F(SweepCells, ContentWithATornArtifactIsTorn) {
  round(2, Outcome::served);
  history_.snapshot = {file("k.so", 12)};
  EXPECT_EQ(judge().end, SweepEnd::torn);
  history_.snapshot.clear();
  EXPECT_EQ(judge().end, SweepEnd::torn);
  EXPECT_NE(judge().detail.find("k.so is not there"), std::string::npos);
}

TEST_F(SweepCells, AHangIsToldWithoutTheNumbersOfOneRun) {
  round(2, Outcome::hung, "B/sleep (pid 77) polls for ever: stat lock; lock was made by A (pid 5), which the plan killed; proved to 164.7 "
                          "virtual hours, 1000 wake-ups without a change");
  add(EventKind::hang_proved, 2, 1, 1, "x; proved to 164.7 virtual hours, 1000 wake-ups without a change");
  history_.snapshot.push_back(file("lock", 0));
  const SweepCell cell = judge();
  EXPECT_EQ(cell.end, SweepEnd::hang);
  EXPECT_EQ(cell.detail, "B/sleep polls for ever: stat lock; lock was made by A, which the plan killed");
  EXPECT_TRUE(cell.poisoned) << "it changed nothing, so the next fares the same";
  EXPECT_THAT(cell.left, ElementsAre("lock"));
  HangBounds bounds;
  lower(bounds, history_);
  EXPECT_EQ(bounds.polls, 1000u);
  EXPECT_NEAR(bounds.virtual_hours, 164.7, 0.01);
}

TEST_F(SweepCells, AThirdProcessThatIsServedHealsIt) {
  round(2, Outcome::failed, "exit 1: torn");
  round(3, Outcome::served);
  EXPECT_EQ(judge().end, SweepEnd::failed);
  EXPECT_FALSE(judge().poisoned);
}

TEST_F(SweepCells, AnOrphansLateWriteIsSeenByTheLastLoad) {
  round(2, Outcome::served);
  round(3, Outcome::failed, "exit 1");
  EXPECT_EQ(judge(SweepColumn::builder_orphan_held).end, SweepEnd::failed);
}

TEST_F(SweepCells, OrphansAreNamedWhereTheBuilderAloneWasKilled) {
  round(2, Outcome::served);
  add(EventKind::process_adopted, 1, 1, 0, "A/ninja/sh/c++/cc1plus");
  EXPECT_THAT(judge(SweepColumn::builder_orphan_first).left, ElementsAre("cc1plus went on"));
  EXPECT_TRUE(judge(SweepColumn::tree).left.empty());
}

TEST_F(SweepCells, AKillThatDidNotStrikeIsInconclusive) {
  add(EventKind::fault_missed, 1, 1, 0, "nobody came to: after A: x");
  round(2, Outcome::served);
  EXPECT_EQ(judge().end, SweepEnd::inconclusive);
  EXPECT_EQ(judge().detail, "nobody came to: after A: x");
}

TEST_F(SweepCells, AStalledProcessIsInconclusiveAndNoHang) {
  round(2, Outcome::stalled, "waits for a socket; not proved");
  EXPECT_EQ(judge().end, SweepEnd::inconclusive);
}

TEST_F(SweepCells, AFaultFreeRunThatFailsSaysHow) {
  round(1, Outcome::failed, "exit 3: no licence");
  EXPECT_EQ(failure_of(history_), "exit 3: no licence");
}

}  // namespace
}  // namespace jitrace
