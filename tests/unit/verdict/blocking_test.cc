// hang, wedged, two_owners, starved, serialised: what has to do with waiting and owning.
#include <gtest/gtest.h>

#include "unit/verdict/recorder.h"

namespace jitrace {
namespace {

constexpr auto lock_path = "k0/lock";

Recorder killed_baton(int rounds) {
  Recorder r("torch-baton", 2, rounds);
  r.round(1);
  r.get(0);
  r.lock(0, lock_path);
  r.attempt(0, 1);
  r.get(1);
  r.waits(1, ConditionKind::absent, lock_path);
  r.fire(0);
  r.hang(1, 1, "worker 1 waits until k0/lock is gone. Its owner, worker 0, was killed");
  return r;
}

TEST(Hang, IsOneFindingPerHungWorker) {
  Recorder r = killed_baton(1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(findings(verdict, FindingClass::hang), 1);
  const Finding& hang = first(verdict, FindingClass::hang);
  EXPECT_EQ(hang.cause, "stale owner");
  EXPECT_EQ(hang.slot, 1);
  ASSERT_EQ(hang.evidence.size(), 2u);
  EXPECT_EQ(hang.evidence[0], "worker 1 waits until k0/lock is gone");
  EXPECT_FALSE(has(verdict, FindingClass::wedged));
  EXPECT_EQ(verdict.inconclusive, "");
  EXPECT_EQ(verdict.outcomes.at("hung"), 1);
  EXPECT_EQ(verdict.outcomes.at("killed_by_plan"), 1);
  EXPECT_FALSE(verdict.recovered);
}

TEST(Hang, ProvedAgainInAFreshRoundIsWedged) {
  Recorder r = killed_baton(2);
  r.round(2);
  r.get(2);
  r.waits(2, ConditionKind::absent, lock_path);
  r.get(3);
  r.waits(3, ConditionKind::absent, lock_path);
  r.hang(2, 2);
  r.hang(3, 2);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(findings(verdict, FindingClass::hang), 3);
  EXPECT_EQ(findings(verdict, FindingClass::wedged), 1);
  EXPECT_EQ(first(verdict, FindingClass::wedged).round, 2);
}

TEST(Hang, ThatAFreshRoundGetsOverIsNotWedged) {
  Recorder r = killed_baton(2);
  r.round(2);
  r.serve(2, 1);
  r.serve(3, 1);
  EXPECT_FALSE(has(r.verdict(), FindingClass::wedged));
}

TEST(Hang, AStallIsNoHang) {
  Recorder r("torch-baton", 1);
  r.round(1);
  r.add(EventKind::watchdog).text = "dump";
  r.ends(0, 9, 2);
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::hang));
  EXPECT_NE(verdict.inconclusive.find("stalled"), std::string::npos);
  EXPECT_EQ(verdict.outcomes.at("stalled"), 1);
}

TEST(Hang, NotOfTheOneThatThePlanStoppedWhenTheOthersFellBack) {
  Recorder r("gptqmodel-flock", 2);
  r.round(1);
  r.lock(0, "base.lock");
  r.fire(0, FaultKind::stop);
  r.waits(1, ConditionKind::flock, "base.lock", milliseconds(50));
  r.wait_ms(50);
  r.wait_over(1, WaitEnd::bound);
  r.outcome(1, Outcome::fell_back);
  r.hang(0, 1, "worker 0 is stopped");
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::hang));
  EXPECT_EQ(verdict.inconclusive, "");
  EXPECT_EQ(verdict.outcomes.at("killed_by_plan"), 1);
  EXPECT_EQ(verdict.outcomes.at("fell_back"), 1);
}

TEST(TwoOwners, OverlapOnOnePath) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.lock(0, lock_path, 7);
  r.lock(1, lock_path, 7);
  r.unlock(0, lock_path);
  r.unlock(1, lock_path);
  r.serve(0, 1);
  r.serve(1, 1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::two_owners).cause, "the lock did not exclude");
}

TEST(TwoOwners, AReplacedLockFileSplitsTheWaiters) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.lock(0, lock_path, 7);
  r.lock(1, lock_path, 8);
  r.unlock(1, lock_path);
  r.unlock(0, lock_path);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::two_owners).cause, "the lock file was replaced under its owner");
}

TEST(TwoOwners, OneAfterTheOtherIsNone) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.lock(0, lock_path);
  r.unlock(0, lock_path);
  r.lock(1, lock_path);
  r.unlock(1, lock_path);
  EXPECT_FALSE(has(r.verdict(), FindingClass::two_owners));
}

TEST(TwoOwners, NestedLocksOfDifferentPathsAreNone) {
  Recorder r("msa-flock", 2);
  r.round(1);
  r.lock(0, "k0/build.lock", 5);
  r.lock(0, "k0/lock", 6);
  r.lock(1, "k1/build.lock", 8, 1);
  r.unlock(0, "k0/lock");
  r.unlock(0, "k0/build.lock");
  r.unlock(1, "k1/build.lock");
  EXPECT_FALSE(has(r.verdict(), FindingClass::two_owners));
}

TEST(TwoOwners, AKilledOwnerOwnsNothingThoughItsOrphanKeepsTheKernelLock) {
  Recorder r("deepgemm-flock", 2);
  r.round(1);
  r.lock(0, "locks/k0.lock");
  r.attempt(0, 1);
  r.fire(0);
  r.lock(1, "locks/k0.lock");
  r.unlock(1, "locks/k0.lock");
  EXPECT_FALSE(has(r.verdict(), FindingClass::two_owners));
}

TEST(TwoOwners, AStoppedOwnerStillOwns) {
  Recorder r("msa-flock", 2);
  r.round(1);
  r.lock(0, "k0/build.lock");
  r.fire(0, FaultKind::stop);
  r.lock(1, "k0/build.lock");
  r.unlock(1, "k0/build.lock");
  r.serve(1, 1);
  r.ends(0, 9, 2);
  const TrialVerdict verdict = r.verdict();
  EXPECT_TRUE(has(verdict, FindingClass::two_owners));
  EXPECT_EQ(verdict.outcomes.at("killed_by_plan"), 1);
}

TEST(TwoOwners, AnOwnerThatCrashedByItselfEndsAtItsLastSign) {
  Recorder r("msa-flock", 2);
  r.round(1);
  r.lock(0, "k0/build.lock");
  r.lock(1, "k0/build.lock");
  r.unlock(1, "k0/build.lock");
  r.ends(0, 11);  // heard of only now
  EXPECT_FALSE(has(r.verdict(), FindingClass::two_owners));
}

TEST(Starved, AWaitBeyondItsBound) {
  Recorder r("gptqmodel-flock", 2);
  r.round(1);
  r.waits(1, ConditionKind::flock, "base.lock", milliseconds(500));
  r.wait_ms(5000);
  r.wait_over(1);
  r.serve(1, 1);
  EXPECT_TRUE(has(r.verdict(), FindingClass::starved));
}

TEST(Starved, FailingAtTheBoundWhileTheOwnerIsHealthy) {
  Recorder r("gptqmodel-flock", 2);
  r.round(1);
  r.waits(1, ConditionKind::flock, "base.lock", milliseconds(50));
  r.wait_ms(50);
  r.wait_over(1, WaitEnd::bound);
  r.outcome(1, Outcome::failed, "timed out");
  EXPECT_TRUE(has(r.verdict(), FindingClass::starved));
}

TEST(Starved, NotWhoFallsBackAtTheBoundOrWaitsWithin) {
  Recorder r("gptqmodel-flock", 2);
  r.round(1);
  r.waits(1, ConditionKind::flock, "base.lock", milliseconds(50));
  r.wait_ms(60);
  r.wait_over(1, WaitEnd::bound);
  r.outcome(1, Outcome::fell_back);
  EXPECT_FALSE(has(r.verdict(), FindingClass::starved));
}

TEST(Serialised, WaitingForALockThatIsHeldForAnotherKey) {
  Recorder r("msa-flock", 2, 1, 2);
  r.round(1);
  r.lock(0, "the.lock", 7, 0);
  r.attempt(0, 1, 0);
  r.waits(1, ConditionKind::flock, "the.lock", 0, 1);
  r.attempt_ends(0, 1);
  r.unlock(0, "the.lock");
  r.wait_over(1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::serialised).cause, "kernel1 waited for kernel0");
}

TEST(Serialised, AlsoWhereTheWaitBeganFirst) {
  Recorder r("deepgemm-flock", 2, 1, 2);
  r.round(1);
  r.waits(1, ConditionKind::flock, "locks/all", 0, 1);
  r.lock(0, "locks/all", 7, 0);
  r.unlock(0, "locks/all");
  r.wait_over(1);
  EXPECT_TRUE(has(r.verdict(), FindingClass::serialised));
}

TEST(Serialised, BeforeADaemonOnlyABuildOfSomeLengthTells) {
  for (const std::int64_t lasted : {10, 200}) {
    Recorder r("daemon", 2, 1, 2);
    r.round(1);
    r.waits(1, ConditionKind::reply, "daemon.sock", 0, 1);
    r.attempt(0, 1, 0);
    r.wait_ms(lasted);
    r.attempt_ends(0, 1);
    r.build(0, 2, 1);
    r.wait_over(1);
    EXPECT_EQ(has(r.verdict(), FindingClass::serialised), lasted == 200) << lasted;
  }
}

TEST(Serialised, WaitingForOnesOwnKeyIsNone) {
  Recorder r("msa-flock", 3, 1, 2);
  r.round(1);
  r.lock(0, "k0/build.lock", 7, 0);
  r.attempt(0, 1, 0);
  r.lock(1, "k1/build.lock", 8, 1);
  r.attempt(1, 2, 1);
  r.waits(2, ConditionKind::flock, "k0/build.lock", 0, 0);
  r.attempt_ends(1, 2);
  r.attempt_ends(0, 1);
  r.unlock(0, "k0/build.lock");
  r.wait_over(2);
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::serialised));
  EXPECT_EQ(verdict.peak_builds, 2);
}

}  // namespace
}  // namespace jitrace
