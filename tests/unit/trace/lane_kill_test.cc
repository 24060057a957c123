// A builder of exactly 60 calls: each is seen, each can be the last.
#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

struct Point {
  StepName step;
  std::string what;
  bool changed = false;
};

std::vector<Point> points_of(const LaneRun& run) {
  const Recording recording = recording_of(run.history);
  std::map<std::string, int> seen;
  std::vector<Point> points;
  for (const RecordedCall& call : recording.calls) {
    Point point;
    point.step = {recording.processes[static_cast<std::size_t>(call.process)].role, call.what, ++seen[call.what],
                  Side::before};
    point.changed = call.changed;
    points.push_back(std::move(point));
  }
  return points;
}

bool looks(const std::string& what) {
  const std::string verb = what.substr(0, what.find(' '));
  return verb == "stat" || verb == "access" || verb == "readlink" || verb == "fsync" || verb == "close";
}

std::size_t calls_of_round_1(const LaneRun& run) {
  const auto calls = run.all(EventKind::call);
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [](const Event& event) { return event.key == 1; }));
}

TEST(LaneKill, RecordsEachOfSixtyCallsInOrder) {
  LaneRun run({test_program("static_builder"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  const auto points = points_of(run);
  ASSERT_EQ(points.size(), 60u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string& what = points[i].step.what;
    // 60 is the close that lets go of the lock; opening for reading and a mkdir of what is there change nothing either.
    const bool changes = i == 59 || (!looks(what) && what.find("O_RDONLY") == std::string::npos && what != "mkdir .");
    EXPECT_EQ(points[i].changed, changes) << i + 1 << " " << what;
  }
  EXPECT_EQ(points[3].step.what, "open lock O_RDWR|O_CREAT");
  EXPECT_EQ(points[4].step.what, "flock lock LOCK_EX");
  EXPECT_EQ(points[28].step.what, "link work/object -> work/object.kept");
  EXPECT_EQ(points[47].step.what, "rename work/artifact.tmp -> artifact.new");
  EXPECT_EQ(points[59].step.what, "close lock");
}

// What a step leaves in the cache, where a name tells: whether it was made.
void expect_executed(const LaneRun& run, const Point& point, Side side) {
  // The recovery has been there since: it is the calls of the killed round that say what was done.
  const auto calls = run.all(EventKind::call);
  int done = 0;
  for (const Event& event : calls) done += event.key == 1 && event.text == point.step.what ? 1 : 0;
  EXPECT_EQ(done, side == Side::after ? point.step.occurrence : point.step.occurrence - 1) << point.step.text();
}

TEST(LaneKill, StrikesOnceAtEachSideOfEachCallAndTheNextOneRecovers) {
  LaneRun recorded({test_program("static_builder"), "{cache}"});
  ASSERT_TRUE(recorded.run());
  const auto points = points_of(recorded);
  ASSERT_EQ(points.size(), 60u);
  Nanoseconds took = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const Side side : {Side::before, Side::after}) {
      LaneRun run({test_program("static_builder"), "{cache}"});
      run.plan.work = TraceWork::kill;
      run.plan.step = points[i].step;
      run.plan.step->side = side;
      ASSERT_TRUE(run.run());
      took += run.took;
      SCOPED_TRACE(run.plan.step->text());
      EXPECT_EQ(run.all(EventKind::fault_fired).size(), 1u);
      EXPECT_THAT(run.all(EventKind::fault_missed), IsEmpty());
      EXPECT_EQ(calls_of_round_1(run), side == Side::after ? i + 1 : i);
      expect_executed(run, points[i], side);
      EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::killed_by_plan, Outcome::served));
      EXPECT_THAT(list_tree(run.plan.cache), ::testing::UnorderedElementsAre("artifact", "lock"));
    }
  }
  std::printf("120 kills with their recoveries: %.2f s in all\n", static_cast<double>(took) / 1e9);
}

// The call itself, in the file system: the victim is killed alone, so nobody mends what it left but the look of a test.
TEST(LaneKill, TheCallIsMadeOnlyIfItIsKilledAfterIt) {
  for (const Side side : {Side::before, Side::after}) {
    LaneRun run({"/bin/sh", "-c",
                 "test -e \"$0/made\" && exec cat \"$0/made\"; test \"$1\" = 0 && mkdir \"$0/made\"; ls -A \"$0\"",
                 "{cache}", "{worker}"});
    run.plan.work = TraceWork::kill;
    run.plan.step = StepName{"A/mkdir", "mkdir made", 1, side};
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.all(EventKind::fault_fired).size(), 1u) << run.history.text();
    EXPECT_EQ(std::filesystem::exists(run.in_cache("made")), side == Side::after);
  }
}

TEST(LaneKill, ABatonHangsExactlyBetweenItsCreationAndItsRemoval) {
  LaneRun recorded({test_program("static_builder"), "{cache}", "--baton"});
  ASSERT_TRUE(recorded.run());
  const auto points = points_of(recorded);
  ASSERT_EQ(points.size(), 60u);
  Nanoseconds took = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const Side side : {Side::before, Side::after}) {
      LaneRun run({test_program("static_builder"), "{cache}", "--baton"});
      run.plan.work = TraceWork::kill;
      run.plan.polls = 100;  // the way to a proof is asked here 102 times, not its length
      run.plan.step = points[i].step;
      run.plan.step->side = side;
      ASSERT_TRUE(run.run());
      took += run.took;
      SCOPED_TRACE(run.plan.step->text());
      const std::size_t done = side == Side::after ? i + 1 : i;
      // From call 4 to call 60 the baton is there; once call 55 has put the artifact there, nobody asks for it.
      const bool hangs = done >= 4 && done < 55;
      EXPECT_EQ(run.all(EventKind::hang_proved).size(), hangs ? 1u : 0u) << run.history.text();
      if (hangs) {
        EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("open lock O_RDWR|O_CREAT|O_EXCL"));
        EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::killed_by_plan, Outcome::hung));
      } else {
        EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::killed_by_plan, Outcome::served));
      }
    }
  }
  std::printf("120 kills of a baton, 102 of them with a proved hang: %.2f s\n", static_cast<double>(took) / 1e9);
}

TEST(LaneKill, AnotherProgramIsNamedByTheStepAtWhichItLeftItsWay) {
  LaneRun run({test_program("static_builder"), "{cache}"});
  run.plan.work = TraceWork::kill;
  run.plan.steps = {"A: open lock O_RDWR|O_CREAT", "A: flock lock LOCK_EX", "A: mkdir elsewhere"};
  run.plan.step = StepName{"A", "mkdir elsewhere", 1, Side::after};
  ASSERT_TRUE(run.run());
  const Event missed = run.first(EventKind::fault_missed);
  EXPECT_THAT(missed.text, HasSubstr("A: mkdir elsewhere"));
  EXPECT_THAT(missed.text, HasSubstr("A: mkdir work"));
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
}

TEST(LaneKill, AStepThatNobodyComesToIsMissedInWords) {
  LaneRun run({test_program("static_builder"), "{cache}"});
  run.plan.work = TraceWork::kill;
  run.plan.step = StepName{"A", "mkdir work", 2, Side::after};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.first(EventKind::fault_missed).text, HasSubstr("after A: mkdir work (2)"));
}

TEST(LaneKill, ASnapshotIsTakenWhileEverybodyStands) {
  LaneRun run({test_program("static_builder"), "{cache}"});
  run.plan.snapshots = run.path("snapshots");
  run.plan.snapshot_at = {StepName{"A", "mkdir work", 1, Side::after},
                          StepName{"A", "write work/artifact.tmp", 3, Side::after}};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(list_tree(run.path("snapshots/0")), ::testing::UnorderedElementsAre("lock", "work/"));
  EXPECT_EQ(read_file(run.path("snapshots/1/work/artifact.tmp")).value().size(), 3u * 512);
}

TEST(LaneKill, NoSnapshotIsTakenWhileSomebodyOutsideHoldsALock) {
  LaneRun run({test_program("static_builder"), "{cache}"});
  run.plan.snapshots = run.path("snapshots");
  run.plan.snapshot_at = {StepName{"A", "mkdir work", 1, Side::after}};
  const auto held = open_fd(run.in_cache("theirs"), O_RDWR | O_CREAT);
  ASSERT_TRUE(held && ::flock(held->get(), LOCK_SH) == 0);
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_FALSE(exists(run.path("snapshots/0")));
}

}  // namespace
}  // namespace jitrace
