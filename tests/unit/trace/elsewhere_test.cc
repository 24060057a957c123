// What a recorded program makes outside of the cache, and which of it others meet there.
#include "trace/elsewhere.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "unit/base/fixture.h"
#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

class ElsewhereTest : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return join(dir.path(), name); }
  std::vector<std::string> found(const std::string& temporary = "nowhere") const {
    return elsewhere.found([&](const std::string& path) { return path.starts_with(at(temporary)); });
  }
  void make(const std::string& name) {
    elsewhere.done({.made = at(name), .removed = {}});
    ASSERT_TRUE(make_dirs(parent_of(at(name))));
    ASSERT_TRUE(write_file(at(name), ""));
  }
  void remove(const std::string& name) {
    elsewhere.done({.made = {}, .removed = at(name)});
    ASSERT_TRUE(remove_tree(at(name)));
  }

  TempDir dir = scratch();
  Elsewhere elsewhere{at("journal")};
};

TEST_F(ElsewhereTest, WhatIsMadeAndGoneAgain) {
  make("lock");
  EXPECT_THAT(found(), IsEmpty()) << "a result";
  remove("lock");
  EXPECT_THAT(found(), ElementsAre(at("lock")));
}

TEST_F(ElsewhereTest, WhatStaysIsAResultUnlessItWasLocked) {
  make("flocked");
  make("other");
  elsewhere.locked(at("flocked"));
  elsewhere.locked(at("theirs"));
  EXPECT_THAT(found(), ElementsAre(at("flocked")));
}

TEST_F(ElsewhereTest, AmongTemporaryFilesAllThatIsMade) {
  make("tmp/kernels.json");
  elsewhere.done({.made = at("tmp/kernels"), .removed = {}});
  make("tmp/kernels/k.o");
  EXPECT_THAT(found("tmp"), ElementsAre(at("tmp/kernels"), at("tmp/kernels.json")));
}

TEST_F(ElsewhereTest, BelowADirectoryThatStaysToo) {
  elsewhere.done({.made = at("made"), .removed = {}});
  make("made/locks/k.lock");
  remove("made/locks/k.lock");
  EXPECT_THAT(found(), ElementsAre(at("made/locks/k.lock")));
}

TEST_F(ElsewhereTest, WhatWasThereBeforeIsSomebodyElses) {
  ASSERT_TRUE(write_file(at("theirs"), ""));
  elsewhere.done({.made = at("theirs.old"), .removed = at("theirs")});
  make("theirs");
  elsewhere.locked(at("theirs"));
  EXPECT_THAT(found(), ElementsAre(at("theirs.old"))) << "which no one made here";
  EXPECT_FALSE(elsewhere.has_made(at("theirs")));
}

TEST_F(ElsewhereTest, DevicesAndWhatTheKernelMakesUpAreNone) {
  for (const char* path : {"/proc/none", "/sys/none", "/dev/none", "/dev/shm/jitrace-test-none"}) {
    elsewhere.done({.made = path, .removed = {}});
  }
  EXPECT_THAT(found(), ElementsAre("/dev/shm/jitrace-test-none"));
}

TEST_F(ElsewhereTest, TheJournalIsEnoughToCleanUp) {
  elsewhere.done({.made = at("lock.d"), .removed = {}});
  make("lock.d/owner\nof it");
  elsewhere.done({.made = at("results"), .removed = {}});
  make("results/one");
  ASSERT_TRUE(write_file(at("results/of another"), ""));
  elsewhere.done({.made = at("moved.lock"), .removed = {}});
  ASSERT_TRUE(make_dirs(at("moved.lock")));
  ASSERT_TRUE(write_file(at("moved.lock/owner"), ""));
  Elsewhere::clean_up(at("journal"), {at("moved.lock")});
  EXPECT_FALSE(exists(at("moved.lock")));
  EXPECT_FALSE(exists(at("lock.d")));
  EXPECT_FALSE(exists(at("results/one")));
  EXPECT_TRUE(exists(at("results/of another")));
  Elsewhere::clean_up(at("no journal"), {});
}

std::vector<std::string> shell(const std::string& line) { return {"/bin/sh", "-c", line, "{cache}"}; }

std::vector<std::string> noticed(const LaneRun& run) {
  std::vector<std::string> paths;
  for (const Event& event : run.all(EventKind::elsewhere)) paths.push_back(event.text);
  return paths;
}

TEST(LaneElsewhere, TemporaryFilesAreNoticedAndWatchedByName) {
  LaneRun run(shell("mkdir $TMPDIR/build.lock; : >$0/k; rmdir $TMPDIR/build.lock; mkdir $TMPDIR/no/such; mkdir /proc/none"));
  run.plan.elsewhere = Noticing::yes;
  run.plan.work = TraceWork::record;
  ASSERT_TRUE(run.run());
  EXPECT_THAT(noticed(run), ElementsAre("$TMPDIR/build.lock"));
  EXPECT_THAT(run.calls("TMPDIR"), IsEmpty());
  run.plan.elsewhere = Noticing::no;
  run.plan.beside = {"$TMPDIR/build.lock"};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.calls("TMPDIR"), ElementsAre("A/mkdir: mkdir $TMPDIR/build.lock", "A/rmdir: rmdir $TMPDIR/build.lock"));
  EXPECT_THAT(noticed(run), IsEmpty());
}

// Whatever makes it: what it made and locked, or took away. Nothing of it is left when the trial is over.
TEST(LaneElsewhere, LocksAnywhereAreNoticedAndTakenAway) {
  LaneRun run(shell("cd \"$0/..\"; exec 9>flocked; flock 9; : >$0/k; : >plain; rm plain; mkfifo pipe; rm pipe; : >a; mv a renamed; rm renamed; "
                    "ln -s nowhere linked; rm linked; mkdir -p stays/locks; mkdir stays/locks/k; rmdir stays/locks/k; : >result; : >theirs; rm theirs"));
  ASSERT_TRUE(write_file(run.path("theirs"), ""));
  run.plan.elsewhere = Noticing::yes;
  ASSERT_TRUE(run.run());
  std::vector<std::string> expected;
  for (const char* name : {"a", "flocked", "linked", "pipe", "plain", "renamed", "stays/locks/k"}) expected.push_back(run.path(name));
  EXPECT_EQ(noticed(run), expected) << run.history.text();
  EXPECT_FALSE(exists(run.path("flocked")));
  EXPECT_TRUE(exists(run.path("result")));
  EXPECT_FALSE(exists(run.path("scratch/made-elsewhere")));
}

// Watched from the start, copied with the cache, and there again for who recovers on the copy.
TEST(LaneElsewhere, WhatLiesBesideIsCopiedAndRestored) {
  const std::vector<std::string> command =
      shell("until mkdir $TMPDIR/build.lock; do sleep 1; done; : >$TMPDIR/build.lock/pid; : >$0/k; rm -r $TMPDIR/build.lock");
  LaneRun run(command);
  run.plan.beside = {"$TMPDIR/build.lock"};
  run.plan.snapshots = run.path("snapshots");
  run.plan.snapshot_at = {{"A", "open k O_WRONLY|O_CREAT|O_TRUNC", 1, Side::after}};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_TRUE(exists(run.path("snapshots/0/k")));
  EXPECT_TRUE(exists(run.path("snapshots/0.beside/0/pid")));
  LaneRun fresh(command);
  fresh.plan.beside = run.plan.beside;
  fresh.plan.polls = 80;
  fresh.plan.work = TraceWork::recover;
  fresh.plan.restore = run.path("snapshots/0");
  ASSERT_TRUE(fresh.run());
  EXPECT_EQ(fresh.outcomes().front(), Outcome::hung) << fresh.history.text();
  EXPECT_THAT(fresh.first(EventKind::hang_proved).text, HasSubstr("polls for ever: mkdir $TMPDIR/build.lock"));
  std::vector<std::string> left;
  for (const SnapshotEntry& entry : fresh.history.snapshot) left.push_back(entry.path);
  EXPECT_THAT(left, ElementsAre("k", "$TMPDIR/build.lock/", "$TMPDIR/build.lock/pid"));
}

// Both of its ends are in the tree, so nobody else can write to it.
TEST(LaneElsewhere, AFifoAmongTemporaryFilesIsNobodyElses) {
  LaneRun run(shell("mkfifo $TMPDIR/pipe; cat $TMPDIR/pipe; : >$0/k"));
  run.plan.beside = {"$TMPDIR/pipe"};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung)) << run.history.text();
  EXPECT_EQ(run.passed(), 0);
}

// What a link leads to is not its.
TEST(LaneElsewhere, ALinkIsTakenAwayAndNotWhatItLeadsTo) {
  LaneRun run(shell("until ln -sT \"$0/../data\" \"$0/../lock\"; do sleep 1; done; : >$0/k; rm \"$0/../lock\""));
  ASSERT_TRUE(make_dirs(run.path("data")));
  ASSERT_TRUE(write_file(run.path("data/file"), ""));
  run.plan.beside = {run.path("lock")};
  run.plan.polls = 80;
  run.plan.work = TraceWork::kill;
  run.plan.step = StepName{"A", "open k O_WRONLY|O_CREAT|O_TRUNC", 1, Side::after};
  ASSERT_TRUE(run.run());
  std::vector<std::string> left;
  for (const SnapshotEntry& entry : run.history.snapshot) left.push_back(entry.path);
  EXPECT_THAT(left, ElementsAre("k", run.path("lock")));
  EXPECT_FALSE(exists(run.path("lock")));
  EXPECT_TRUE(exists(run.path("data/file")));
}

}  // namespace
}  // namespace jitrace
