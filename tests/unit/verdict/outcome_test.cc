// loud, wrong_error, herd, leak, the facts beside the findings, and what makes a trial inconclusive.
#include <gtest/gtest.h>

#include "unit/verdict/recorder.h"

namespace jitrace {
namespace {

TEST(Loud, AnErrorThatNothingElseExplains) {
  Recorder r("deepgemm-dir", 1);
  r.round(1);
  r.outcome(0, Outcome::failed, "Corrupted JIT cache directory (missing kernel.cubin): x, please run `rm -rf x`");
  EXPECT_TRUE(has(r.verdict(), FindingClass::loud));
}

TEST(Loud, NotTheBuilderWhoseCompilerThePlanKilled) {
  Recorder r("deepgemm-dir", 1);
  r.round(1);
  r.attempt(0, 1);
  r.tool(900, 2000, 1, ToolRole::compiler);
  r.fire(0, FaultKind::kill, Victim::compiler);
  r.attempt_ends(0, 1, 9, "");
  r.outcome(0, Outcome::failed, "NVCC compilation failed");
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::loud));
  EXPECT_EQ(verdict.outcomes.at("failed"), 1);
}

TEST(WrongError, CannotOpenWhereTheBuildOfAnotherFailed) {
  Recorder r("torch-baton", 2);
  r.round(1);
  r.attempt(0, 1);
  r.attempt_ends(0, 1, 1 << 8, "kernel.cu(3): error: expected a \";\"");
  r.outcome(0, Outcome::failed, "Error building extension: kernel.cu(3): error: expected a \";\"");
  r.load(1, 0, 0, LoadCode::cannot_open, "cannot open shared object file");
  r.outcome(1, Outcome::failed, "k0.so: cannot open shared object file: No such file or directory");
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(findings(verdict, FindingClass::wrong_error), 1);
  EXPECT_EQ(first(verdict, FindingClass::wrong_error).slot, 1);
  EXPECT_TRUE(has(verdict, FindingClass::missing));
}

TEST(WrongError, OfTheKeyThatFailedAndNotOfTheLastOne) {
  Recorder r("torch-baton", 2, 1, 2);
  r.round(1);
  r.get(0, 0);
  r.attempt(0, 1, 0);
  r.attempt_ends(0, 1, 1 << 8, "something that no row knows");
  r.get(1, 0);
  r.load(1, 0, 0, LoadCode::cannot_open, "cannot open shared object file");
  r.get(1, 1);
  r.build(1, 2, 1);
  r.load(1, 2, good_flags, LoadCode::ok, "", 1);
  r.outcome(1, Outcome::failed, "ImportError: k0.so: cannot open shared object file: No such file or directory");
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::wrong_error).key, 0);
  EXPECT_NE(first(verdict, FindingClass::wrong_error).evidence[1].find("exit 1"), std::string::npos);
}

TEST(WrongError, NotWhereTheErrorNamesTheCause) {
  Recorder r("torch-baton", 1);
  r.round(1);
  r.attempt(0, 1);
  r.attempt_ends(0, 1, 1 << 8, "kernel.cu(3): error: expected a \";\"");
  r.outcome(0, Outcome::failed, "Error building extension: kernel.cu(3): error: expected a \";\"");
  EXPECT_FALSE(has(r.verdict(), FindingClass::wrong_error));
}

TEST(WrongError, AnAssertionForAnAnswer) {
  Recorder r("deepgemm-dir", 1);
  r.round(1);
  r.outcome(0, Outcome::failed, "Assertion error (csrc/jit/compiler.hpp:147): runtime != nullptr");
  EXPECT_TRUE(has(r.verdict(), FindingClass::wrong_error));
}

TEST(Herd, MoreBuildsThanPromised) {
  Recorder r("deepgemm-flock", 3);
  r.round(1);
  for (const Slot slot : {Slot{0}, Slot{1}, Slot{2}}) {
    r.build(slot, slot + 1u);
    r.serve(slot, slot + 1u, Outcome::built);
  }
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::herd).cause, "3 builds instead of 1");
  EXPECT_EQ(verdict.builds, 3);
  EXPECT_EQ(verdict.builds_per_key.at("kernel0"), 3);
}

TEST(Herd, NoneIsPromisedWithoutALock) {
  Recorder r("deepgemm", 2);
  r.round(1);
  r.build(0, 1);
  r.build(1, 2);
  EXPECT_FALSE(has(r.verdict(), FindingClass::herd));
}

TEST(Herd, TheBuildOfAKilledBuilderDoesNotCount) {
  Recorder r("deepgemm-flock", 2);
  r.round(1);
  r.build(0, 1);
  r.fire(0);
  r.build(1, 2);
  r.serve(1, 2, Outcome::built);
  EXPECT_FALSE(has(r.verdict(), FindingClass::herd));
}

TEST(Herd, TheBuildOfAWorkerThatWasStoppedForAWhileCounts) {
  for (const bool given_up : {false, true}) {
    Recorder r("deepgemm-flock", 2);
    r.round(1);
    r.build(0, 1);
    r.fire(0, FaultKind::stop);
    r.plan.faults.back().until = Point::spawn;
    r.waits(1, ConditionKind::flock, "k.lock", milliseconds(1));
    r.wait_over(1, given_up ? WaitEnd::bound : WaitEnd::satisfied);
    r.build(1, 2);
    r.serve(1, 2, Outcome::built);
    r.serve(0, 1, Outcome::built);
    EXPECT_EQ(has(r.verdict(), FindingClass::herd), !given_up);
  }
}

TEST(Herd, ABuildToolWithNothingToDoIsNoBuild) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.build(0, 1);
  r.attempt(1, 2);
  r.attempt_ends(1, 2);
  r.history.events.back().b = 1;
  r.serve(0, 1, Outcome::built);
  r.serve(1, 1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::herd));
  EXPECT_EQ(verdict.builds, 1);
}

TEST(Herd, WhatThePlanWipedIsDueAgain) {
  Recorder r("deepgemm-flock", 2);
  r.round(1);
  r.build(0, 1);
  r.fire(0, FaultKind::wipe, Victim::other);
  r.build(1, 2);
  EXPECT_FALSE(has(r.verdict(), FindingClass::herd));
}

TEST(Herd, WhatAnOrphanOverwroteIsItsDoing) {
  Recorder r("msa-flock", 3);
  r.round(1);
  r.attempt(0, 1);
  r.fire(0);
  r.build(1, 2);
  r.output(2, 3, "k0/k0.o");
  r.output(1, 3, "k0/k0.o");
  r.serve(1, 2, Outcome::built);
  r.build(2, 3);
  r.serve(2, 3, Outcome::built);
  const TrialVerdict verdict = r.verdict();
  EXPECT_TRUE(has(verdict, FindingClass::orphan_write));
  EXPECT_FALSE(has(verdict, FindingClass::herd));
}

TEST(Judge, PathsAreRelativeToTheCache) {
  Recorder r("torch-baton", 1);
  r.history.cache = "/c/trial-1";
  r.round(1);
  r.load(0, 0, 0, LoadCode::cannot_open, "/c/trial-1/k0/k0.so: cannot open shared object file");
  r.outcome(0, Outcome::failed, "error");
  EXPECT_EQ(first(r.verdict(), FindingClass::missing).cause, "k0/k0.so: cannot open shared object file");
}

TEST(Leak, ABatonWithoutAnOwner) {
  Recorder r("torch-baton", 1);
  r.round(1);
  r.serve(0, 1, Outcome::built);
  r.file("k0/lock");
  EXPECT_EQ(first(r.verdict(), FindingClass::leak).cause, "a lock file");
}

TEST(Leak, NotAFlockFile) {
  Recorder r("torch-flock", 1);
  r.round(1);
  r.serve(0, 1, Outcome::built);
  r.file("k0/lock");
  EXPECT_FALSE(has(r.verdict(), FindingClass::leak));
}

TEST(Leak, AProcessThatThePlanDidNotOrphan) {
  for (const bool by_plan : {false, true}) {
    Recorder r("torch-flock", 2);
    r.round(1);
    r.attempt(0, 1);
    r.tool(900, 2000, 1, ToolRole::compiler);
    if (by_plan) r.fire(0);
    else r.ends(0, 11);
    Event& adopted = r.add(EventKind::process_adopted);
    adopted.pid = 2000;
    adopted.text = "nvcc";
    r.serve(1, 1);
    Event& ended = r.add(EventKind::process_ended);
    ended.pid = 2000;
    ended.a = 9;
    ended.b = 2;
    EXPECT_EQ(has(r.verdict(), FindingClass::leak), !by_plan);
  }
}

TEST(Leak, TemporaryFilesOfThoseWhoWereNotKilled) {
  for (const bool killed : {false, true}) {
    Recorder r("torch-flock", 2);
    r.round(1);
    if (killed) r.fire(0);
    else r.serve(0, 1);
    r.serve(1, 1);
    r.history.residue.push_back({"tmpxft_0001", 10, 1, 0, ""});
    EXPECT_EQ(has(r.verdict(), FindingClass::leak), !killed);
  }
}

TEST(Recovery, ThreeNumbersFromStamps) {
  Recorder r("torch-flock", 3);
  r.round(1);
  r.lock(0, "k0/lock");
  r.attempt(0, 1);
  r.fire(0);  // the end of the victim takes one step
  const Nanoseconds kill = r.history.events[r.history.events.size() - 2].stamp;
  r.lock(1, "k0/lock");
  const Nanoseconds handoff = r.history.events.back().stamp;
  r.build(1, 2);
  r.unlock(1, "k0/lock");
  r.load(1, 2);
  const Nanoseconds first_load = r.history.events.back().stamp;
  r.outcome(1, Outcome::built);
  r.lock(2, "k0/lock");
  r.unlock(2, "k0/lock");
  r.load(2, 2);
  const Nanoseconds last_load = r.history.events.back().stamp;
  r.outcome(2, Outcome::served);
  const TrialVerdict verdict = r.verdict();
  ASSERT_TRUE(verdict.recovery.applies);
  EXPECT_EQ(verdict.recovery.handoff, handoff - kill);
  EXPECT_EQ(verdict.recovery.first_served, first_load - kill);
  EXPECT_EQ(verdict.recovery.all_served, last_load - kill);
  EXPECT_TRUE(verdict.recovered);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Recovery, WhereNobodySurvivedNothingRecovered) {
  Recorder r("torch-flock", 1);
  r.round(1);
  r.lock(0, "k0/lock");
  r.fire(0);
  EXPECT_FALSE(r.verdict().recovered);
}

TEST(Recovery, AHangIsUnrecovered) {
  Recorder r("torch-baton", 2);
  r.round(1);
  r.lock(0, "k0/lock");
  r.fire(0);
  r.hang(1, 1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_TRUE(verdict.recovery.applies);
  EXPECT_FALSE(verdict.recovery.handoff);
  EXPECT_FALSE(verdict.recovery.first_served);
  EXPECT_FALSE(verdict.recovery.all_served);
}

TEST(Recovery, WhoNeverWaitedForTheVictimHasItAtOnce) {
  Recorder r("deepgemm", 2);
  r.round(1);
  r.reach(1, Point::spawn);
  r.attempt(1, 2);
  r.attempt(0, 1);
  r.fire(0);
  r.attempt_ends(1, 2);
  r.serve(1, 2, Outcome::built);
  EXPECT_EQ(r.verdict().recovery.handoff, 0);
}

// A command tells when it ends, and nothing of what it holds or loads.
TEST(Judge, RecoveryOfCommandsGoesByTheirEnds) {
  Recorder made("torch-baton", 4);
  made.plan.command = {"loader"};
  made.round(1);
  made.outcome(3, Outcome::served);
  made.ends(3);
  made.fire(0, FaultKind::kill, Victim::worker);
  const Nanoseconds kill = made.history.events.back().stamp;
  std::vector<Nanoseconds> ended;
  for (const Slot slot : {Slot{1}, Slot{2}}) {
    made.wait_ms(50);
    made.outcome(slot, Outcome::served);
    made.ends(slot);
    ended.push_back(made.history.events.back().stamp);
  }
  const TrialVerdict verdict = made.verdict();
  ASSERT_TRUE(verdict.recovery.applies);
  EXPECT_FALSE(verdict.recovery.handoff_shows);
  EXPECT_FALSE(verdict.recovery.handoff);
  // Within the steps of a millisecond that the end itself takes.
  EXPECT_NEAR(to_ms(verdict.recovery.first_served.value()), to_ms(ended[0] - kill), 3) << "and not the last one's";
  EXPECT_NEAR(to_ms(verdict.recovery.all_served.value()), to_ms(ended[1] - kill), 3);
}

TEST(Judge, WhoWasServedBeforeTheKillNeedsNoTime) {
  Recorder made("torch-baton", 2);
  made.plan.command = {"loader"};
  made.round(1);
  made.outcome(1, Outcome::served);
  made.ends(1);
  made.wait_ms(50);
  made.fire(0, FaultKind::kill, Victim::worker);
  const TrialVerdict verdict = made.verdict();
  EXPECT_EQ(verdict.recovery.first_served, 0);
  EXPECT_EQ(verdict.recovery.all_served, 0);
}

TEST(Judge, AFaultThatDidNotFireIsInconclusive) {
  Recorder r("torch-flock", 1);
  r.plan.faults.push_back({});
  r.round(1);
  r.serve(0, 1);
  r.add(EventKind::fault_missed).text = "nobody came there";
  const TrialVerdict verdict = r.verdict();
  EXPECT_NE(verdict.inconclusive.find("did not fire"), std::string::npos);
  EXPECT_EQ(verdict.faults_planned, 1);
  EXPECT_EQ(verdict.faults_fired, 0);
}

TEST(Judge, AKillThatFoundItsVictimEndedDidNotFire) {
  Recorder made("torch-baton", 1);
  made.round(1);
  made.outcome(0, Outcome::served);
  made.fire(0, FaultKind::kill, Victim::other);
  made.ends(0, 0, 0);
  made.add(EventKind::fault_missed, 0).a = 0;
  const TrialVerdict verdict = made.verdict();
  EXPECT_EQ(verdict.faults_fired, 0);
  EXPECT_EQ(verdict.outcomes.at("served"), 1);
  EXPECT_NE(verdict.inconclusive.find("did not fire"), std::string::npos) << verdict.inconclusive;
}

TEST(Judge, HarnessFailureTornLogAndAnEndNotSeenAreInconclusive) {
  Recorder failed("torch-flock", 1);
  failed.round(1);
  failed.serve(0, 1);
  failed.history.failure = "no space";
  EXPECT_EQ(failed.verdict().inconclusive, "harness: no space");

  Recorder torn("torch-flock", 1);
  torn.round(1);
  torn.serve(0, 1);
  torn.history.torn_records = 1;
  EXPECT_NE(torn.verdict().inconclusive.find("torn"), std::string::npos);

  Recorder unsettled("torch-flock", 1);
  unsettled.round(1);
  unsettled.serve(0, 1);
  EXPECT_NE(judge(unsettled.plan, unsettled.history).inconclusive, "");
}

TEST(Judge, ARecordCutByAKillIsNot) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.fire(0);
  r.serve(1, 1);
  r.history.torn_records = 1;
  EXPECT_EQ(r.verdict().inconclusive, "");
}

TEST(Judge, AWorkerThatNeverWasReadyCouldNotStart) {
  Recorder r("torch-flock", 1);
  r.add(EventKind::process_started, 0);
  r.ends(0, 127 << 8);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(verdict.outcomes.at("could_not_start"), 1);
  EXPECT_NE(verdict.inconclusive, "");
}

TEST(Judge, ACrashIsNotAKill) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.ends(0, 11);
  r.ends(1, 9);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(verdict.outcomes.at("crashed"), 1);
  EXPECT_EQ(verdict.outcomes.at("killed_by_other"), 1);
  EXPECT_EQ(findings(verdict, FindingClass::loud), 2);
}

TEST(Judge, AUsersCommandSpeaksThroughItsEndAndItsOutput) {
  Recorder r("command", 2);
  r.plan.command = {"python3", "loader.py"};
  r.plan.mode = Mode::free;
  r.round(1);
  r.outcome(0, Outcome::served);
  r.outcome(1, Outcome::failed, "Traceback\nImportError: /c/k.so: file too short\n");
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::torn).cause, "dlopen");
  EXPECT_FALSE(has(verdict, FindingClass::loud));
}

TEST(Judge, AnEmptyHistoryIsInconclusive) {
  EXPECT_NE(judge(Plan{}, History{}).inconclusive, "");
}

}  // namespace
}  // namespace jitrace
