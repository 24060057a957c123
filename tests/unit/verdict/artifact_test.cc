// orphan_write, missing, source_missing, torn, poisoned, foreign: what has to do with files.
#include <gtest/gtest.h>

#include "unit/verdict/recorder.h"

namespace jitrace {
namespace {

// Worker 0 is killed, its compiler lives on; worker 1 builds the same key. The orphan's output comes `after` that or
// not.
enum class OrphanWrites { before_successor, after_successor };
Recorder orphan(const std::string& preset, OrphanWrites when, const std::string& path, const std::string& other_path) {
  Recorder r(preset, 2);
  r.round(1);
  r.attempt(0, 1);
  r.tool(900, 2000, 1, ToolRole::compiler);
  r.fire(0);
  if (when == OrphanWrites::before_successor) r.output(1, 3, path);
  r.attempt(1, 2);
  r.output(2, 1, other_path);
  r.output(2, 3, other_path);
  if (when == OrphanWrites::after_successor) r.output(1, 3, path);
  r.attempt_ends(1, 2);
  r.serve(1, 2, Outcome::built);
  return r;
}

TEST(OrphanWrite, IntoAnEntryThatTheSuccessorBuilds) {
  Recorder r = orphan("msa-flock", OrphanWrites::after_successor, "k0/k0.so", "k0/k0.so");
  const TrialVerdict verdict = r.verdict();
  const Finding& finding = first(verdict, FindingClass::orphan_write);
  EXPECT_EQ(finding.slot, 1);
  EXPECT_NE(finding.evidence[0].find("k0/k0.so"), std::string::npos);
}

TEST(OrphanWrite, NotBeforeTheSuccessorStarted) {
  Recorder r = orphan("msa-flock", OrphanWrites::before_successor, "k0/k0.so", "k0/k0.so");
  EXPECT_FALSE(has(r.verdict(), FindingClass::orphan_write));
}

TEST(OrphanWrite, NotIntoAPrivatePlace) {
  Recorder r = orphan("deepgemm-dir", OrphanWrites::after_successor, "tmp/a/k.cubin", "tmp/b/k.cubin");
  EXPECT_FALSE(has(r.verdict(), FindingClass::orphan_write));
}

TEST(OrphanWrite, NotByACompilerWhoseBuilderLives) {
  Recorder r("msa-flock", 2);
  r.round(1);
  r.attempt(0, 1);
  r.attempt(1, 2);
  r.output(1, 3, "k0/k0.so");
  r.attempt_ends(0, 1);
  r.attempt_ends(1, 2);
  r.serve(0, 1);
  r.serve(1, 1);
  EXPECT_FALSE(has(r.verdict(), FindingClass::orphan_write));
}

TEST(OrphanWrite, ShownByItsStampInALaterLoad) {
  Recorder r("msa-flock", 3);
  r.round(1);
  r.attempt(0, 1);
  r.fire(0);
  r.build(1, 2);
  r.serve(1, 2, Outcome::built);
  r.load(2, 1, load_intact | load_right_key);
  r.outcome(2, Outcome::served);
  EXPECT_TRUE(has(r.verdict(), FindingClass::orphan_write));
}

TEST(OrphanWrite, NotWhereTheSuccessorOnlyLinkedTheOrphansObject) {
  for (const bool afresh : {false, true}) {
    Recorder r("torch-flock", 2);
    r.round(1);
    r.attempt(0, 1);
    r.reach(0, Point::compile);
    r.history.events.back().attempt = 1;
    r.fire(0);
    r.attempt(1, 2);
    if (afresh) {
      r.reach(1, Point::compile);
      r.history.events.back().attempt = 2;
    }
    r.attempt_ends(1, 2);
    r.serve(1, 1, Outcome::built);
    EXPECT_EQ(has(r.verdict(), FindingClass::orphan_write), afresh);
  }
}

TEST(Missing, A301AtTheLoad) {
  Recorder r("deepgemm", 2);
  r.round(1);
  r.get(0);
  r.load(0, 0, 0, LoadCode::file_not_found, "301 (elf, simulated)");
  r.outcome(0, Outcome::failed, "CUDA driver error: 301 (CUDA_ERROR_FILE_NOT_FOUND, file not found)");
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::missing).cause, "301 (elf, simulated)");
  EXPECT_FALSE(has(verdict, FindingClass::loud)) << "the class that explains it counts, once";
}

TEST(Missing, NotWhereTheSameGetLookedAgainAndWasServed) {
  Recorder r("sound", 1);
  r.round(1);
  r.get(0);
  r.load(0, 0, 0, LoadCode::file_not_found, "301");
  r.serve(0, 1);
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::missing));
  ASSERT_EQ(verdict.notes.size(), 1u);
}

TEST(SourceMissing, InTheCompilersOutput) {
  Recorder r("deepgemm", 1);
  r.round(1);
  r.attempt(0, 1);
  r.attempt_ends(
      0, 1, 1 << 8,
      "cc1plus: fatal error: cache/kernel.gemm/kernel.cu: No such file or directory\ncompilation terminated.");
  r.outcome(0, Outcome::failed, "NVCC compilation failed");
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::source_missing).cause, "cc1plus");
  EXPECT_FALSE(has(verdict, FindingClass::missing));
}

TEST(SourceMissing, NotForAKernelThatDoesNotCompile) {
  Recorder r("deepgemm", 1);
  r.round(1);
  r.attempt(0, 1);
  r.attempt_ends(0, 1, 1 << 8, "kernel.cu(3): error: identifier \"x\" is undefined");
  r.outcome(0, Outcome::failed, "NVCC compilation failed");
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::source_missing));
  EXPECT_FALSE(has(verdict, FindingClass::loud));
}

TEST(Torn, LoadedButNotIntact) {
  Recorder r("torch-baton", 1);
  r.round(1);
  r.load(0, 1, load_right_key);
  r.outcome(0, Outcome::served);
  const TrialVerdict verdict = r.verdict();
  EXPECT_EQ(first(verdict, FindingClass::torn).cause, "loaded, but not intact");
  EXPECT_FALSE(verdict.recovered);
}

TEST(Torn, EveryCodeOfACutFile) {
  for (const LoadCode code : {LoadCode::invalid_image, LoadCode::too_short, LoadCode::invalid_elf, LoadCode::bus_error,
                              LoadCode::crashed, LoadCode::wrong_kernel_count, LoadCode::wrong_numbers}) {
    Recorder r("torch-baton", 1);
    r.round(1);
    r.load(0, 0, 0, code, "message");
    r.outcome(0, Outcome::failed, "message");
    EXPECT_TRUE(has(r.verdict(), FindingClass::torn)) << static_cast<int>(code);
  }
}

TEST(Torn, LeftInTheEntryButNotInAPrivatePlace) {
  Recorder r("torch-baton", 1);
  r.round(1);
  r.serve(0, 1);
  r.file("tmp/1-abc/kernel.cubin", "torn");
  EXPECT_FALSE(has(r.verdict(), FindingClass::torn));
  Recorder entry("torch-baton", 1);
  entry.round(1);
  entry.serve(0, 1);
  entry.file("k0/k0.so", "torn: 40 of 100 bytes");
  EXPECT_TRUE(has(entry.verdict(), FindingClass::torn));
}

Recorder torn_twice() {
  Recorder r("deepgemm-dir", 1, 2);
  r.round(1);
  r.load(0, 0, 0, LoadCode::invalid_image, "200");
  r.outcome(0, Outcome::failed, "200");
  r.ends(0);
  r.round(2);
  return r;
}

TEST(Poisoned, StillTornAndStillFailingInTheLastRound) {
  Recorder r = torn_twice();
  r.load(1, 0, 0, LoadCode::invalid_image, "200");
  r.outcome(1, Outcome::failed, "200");
  r.file("cache/k0/kernel.cubin", "torn");
  const TrialVerdict verdict = r.verdict();
  EXPECT_TRUE(has(verdict, FindingClass::poisoned));
  EXPECT_TRUE(has(verdict, FindingClass::torn));
}

TEST(Poisoned, NotOnceRepaired) {
  Recorder r = torn_twice();
  r.build(1, 2);
  r.serve(1, 2, Outcome::built);
  r.file("cache/k0/kernel.cubin", "intact");
  const TrialVerdict verdict = r.verdict();
  EXPECT_FALSE(has(verdict, FindingClass::poisoned));
  EXPECT_TRUE(has(verdict, FindingClass::torn));
}

TEST(Foreign, AnotherKeysArtifact) {
  Recorder r("deepgemm", 2, 1, 2);
  r.round(1);
  r.build(1, 2, 1);
  r.load(0, 2, load_intact);
  r.outcome(0, Outcome::served);
  EXPECT_EQ(first(r.verdict(), FindingClass::foreign).cause, "of another key");
}

TEST(Foreign, AnotherArchitecturesArtifact) {
  Recorder r("deepgemm", 1);
  r.round(1);
  r.load(0, 0, 0, LoadCode::no_binary_for_gpu, "209 (elf, simulated)");
  r.outcome(0, Outcome::failed, "209");
  EXPECT_TRUE(has(r.verdict(), FindingClass::foreign));
}

TEST(Foreign, AStampThatNobodyMadeHere) {
  Recorder r("torch-flock", 1);
  r.round(1);
  r.load(0, 77, load_intact | load_right_key);
  r.outcome(0, Outcome::served);
  EXPECT_TRUE(has(r.verdict(), FindingClass::foreign));
}

TEST(Foreign, NotAnEntryOfAnEarlierRun) {
  Recorder r("sound", 1);
  r.plan.before.push_back({"entry", "{entry}", ""});
  r.round(1);
  r.load(0, 77, load_intact | load_right_key);
  r.outcome(0, Outcome::served);
  EXPECT_FALSE(has(r.verdict(), FindingClass::foreign));
}

TEST(Foreign, UnderALockOnlyTheOwnBuildWasPromised) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.build(1, 2);
  r.attempt(0, 1);
  r.tool(900, 2000, 1, ToolRole::stage);
  Event& compiles = r.add(EventKind::reached, 900);
  compiles.point = Point::compile;
  compiles.attempt = 1;
  r.attempt_ends(0, 1);
  r.load(0, 2, load_intact | load_right_key);
  r.outcome(0, Outcome::built);
  EXPECT_EQ(first(r.verdict(), FindingClass::foreign).cause, "of another build than its own");
}

TEST(Foreign, NotWhatNinjaLinkedFromAnOrphansObject) {
  Recorder r("torch-flock", 2);
  r.round(1);
  r.build(1, 2);
  r.attempt(0, 1);
  r.tool(900, 2000, 1, ToolRole::compiler);
  r.attempt_ends(0, 1);
  r.load(0, 2, load_intact | load_right_key);
  r.outcome(0, Outcome::built);
  EXPECT_FALSE(has(r.verdict(), FindingClass::foreign));
}

TEST(Foreign, NotTheWinnersArtifactWhereNobodyExcludes) {
  Recorder r("deepgemm", 2);
  r.round(1);
  r.build(0, 1);
  r.build(1, 2);
  r.load(0, 2, load_intact | load_right_key);
  r.outcome(0, Outcome::built);
  r.serve(1, 2, Outcome::built);
  EXPECT_FALSE(has(r.verdict(), FindingClass::foreign));
}

}  // namespace
}  // namespace jitrace
