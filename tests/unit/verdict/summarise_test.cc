#include "verdict/summarise.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jitrace {
namespace {

using testing::Contains;
using testing::HasSubstr;

Plan cell_plan(Mode mode = Mode::gated) {
  Plan plan;
  plan.cell = "torch-baton/kill/nvcc";
  plan.subject = "torch-baton";
  plan.toolchain = "nvcc";
  plan.mode = mode;
  plan.cause = "kill";
  plan.workers = {{"torch-baton", 0, "get"}, {"torch-baton", 0, "get"}};
  plan.faults.push_back({});
  return plan;
}

TrialVerdict clean(int number) {
  TrialVerdict trial;
  trial.trial = number;
  trial.recovered = true;
  trial.recovery.applies = true;
  trial.recovery.handoff = milliseconds(number);
  trial.recovery.first_served = milliseconds(10 * number);
  trial.recovery.all_served = milliseconds(20 * number);
  trial.builds = 1;
  trial.builds_per_key["gemm"] = 1;
  trial.outcomes = {{"served", 1}, {"killed_by_plan", 1}};
  trial.faults_planned = trial.faults_fired = 1;
  return trial;
}

TrialVerdict with(FindingClass kind, int number) {
  TrialVerdict trial = clean(number);
  trial.recovered = false;
  trial.recovery = {.applies = true, .handoff = {}, .first_served = {}, .all_served = {}};
  Finding finding;
  finding.kind = kind;
  finding.trial = number;
  trial.findings = {finding, finding};  // two workers
  return trial;
}

TrialVerdict open_trial(int number) {
  TrialVerdict trial = clean(number);
  trial.inconclusive = "SIGKILL of builder 1 did not fire: nobody came there";
  trial.recovered = false;
  return trial;
}

TrialVerdict of_a_command(int number) {
  TrialVerdict trial = clean(number);
  trial.recovery.handoff_shows = false;
  trial.recovery.handoff.reset();
  return trial;
}

std::vector<TrialVerdict> many(int count, TrialVerdict (*make)(int)) {
  std::vector<TrialVerdict> trials;
  for (int i = 1; i <= count; ++i) trials.push_back(make(i));
  return trials;
}

TrialVerdict wedged(int number) { return with(FindingClass::wedged, number); }

TEST(Summarise, CountsTrialsAndNotWorkers) {
  std::vector<TrialVerdict> trials = many(3, clean);
  trials.push_back(wedged(4));
  trials.push_back(open_trial(5));
  CellFacts facts;
  facts.toolchain = "nvcc 13.0.88";
  facts.replay = {{4, "jitrace replay four"}, {5, "jitrace replay five"}};
  const Cell cell = summarise(cell_plan(), trials, facts);
  EXPECT_EQ(cell.run, "ninja");
  EXPECT_EQ(cell.trials, 5);
  EXPECT_EQ(cell.inconclusive, 1);
  EXPECT_EQ(cell.inconclusive_reasons.at("SIGKILL of builder 1 did not fire"), 1);
  EXPECT_EQ(cell.findings.at("wedged"), 1);
  EXPECT_EQ(cell.recovered, 3);
  EXPECT_EQ(cell.outcomes.at("served"), 5);
  EXPECT_EQ(cell.handoff.n, 3);
  EXPECT_EQ(cell.handoff.unrecovered, 1);
  EXPECT_EQ(cell.handoff.p50, 2);
  EXPECT_EQ(cell.all_served.max, 60);
  EXPECT_EQ(cell.builds, 5);
  EXPECT_EQ(cell.builds_per_key.at("gemm"), 1);
  EXPECT_EQ(cell.replay, "jitrace replay four");
  EXPECT_EQ(cell.examples.size(), 1u);
  EXPECT_TRUE(cell.rates.empty());
}

TEST(Summarise, OnlyFreeTrialsHaveRates) {
  std::vector<TrialVerdict> trials = many(9, clean);
  trials.push_back(wedged(10));
  const Cell cell = summarise(cell_plan(Mode::free), trials, {});
  EXPECT_EQ(cell.rates.at("wedged").k, 1);
  EXPECT_EQ(cell.rates.at("wedged").n, 10);
  EXPECT_EQ(cell.rates.at("any").k, 1);
}

Cell judged(const std::vector<TrialVerdict>& trials, const Expectation& expectation) {
  Cell cell = summarise(cell_plan(), trials, {});
  evaluate(cell, expectation);
  return cell;
}

TEST(Evaluate, AlwaysIsAskedOfEveryTrial) {
  Expectation expectation;
  expectation.always = {"wedged"};
  EXPECT_EQ(judged(many(4, wedged), expectation).verdict, Grade::pass);
  std::vector<TrialVerdict> mixed = many(3, wedged);
  mixed.push_back(clean(4));
  const Cell cell = judged(mixed, expectation);
  EXPECT_EQ(cell.verdict, Grade::fail);
  EXPECT_THAT(cell.unmet, Contains(HasSubstr("always wedged: seen in 3 of 4 trials")));
}

TEST(Evaluate, AKnownBadPresetThatPassesIsAFailure) {
  Expectation expectation;
  expectation.always = {"wedged"};
  const Cell cell = judged(many(4, clean), expectation);
  EXPECT_EQ(cell.verdict, Grade::fail);
  EXPECT_FALSE(cell.met);
  EXPECT_THAT(cell.unmet, Contains(HasSubstr("gone blind")));
  expectation.always.clear();
  expectation.sometimes = {"torn"};
  EXPECT_THAT(judged(many(4, clean), expectation).unmet, Contains(HasSubstr("gone blind")));
}

TEST(Evaluate, NeverIsBrokenByAnInconclusiveTrialToo) {
  Expectation expectation;
  expectation.never = {"wedged"};
  std::vector<TrialVerdict> trials = many(3, clean);
  TrialVerdict open = wedged(4);
  open.inconclusive = "stalled";
  trials.push_back(open);
  EXPECT_EQ(judged(trials, expectation).verdict, Grade::fail);
  EXPECT_EQ(judged(many(3, clean), expectation).verdict, Grade::pass);
}

TEST(Evaluate, RecoveredBothWays) {
  Expectation expectation;
  expectation.recovered = true;
  EXPECT_EQ(judged(many(3, clean), expectation).verdict, Grade::pass);
  EXPECT_EQ(judged(many(3, wedged), expectation).verdict, Grade::fail);
  expectation.recovered = false;
  EXPECT_EQ(judged(many(3, clean), expectation).verdict, Grade::fail);
  EXPECT_EQ(judged(many(3, wedged), expectation).verdict, Grade::pass);
}

TEST(Evaluate, FellBackIsAskedPerTrial) {
  Expectation expectation;
  expectation.fell_back = true;
  std::vector<TrialVerdict> trials = many(2, clean);
  EXPECT_EQ(judged(trials, expectation).verdict, Grade::fail);
  for (TrialVerdict& trial : trials) trial.outcomes["fell_back"] = 1;
  EXPECT_EQ(judged(trials, expectation).verdict, Grade::pass);
}

TEST(Evaluate, BoundsOnBuildsWarningsAndTimes) {
  Expectation expectation;
  expectation.builds_min = expectation.builds_max = 1;
  expectation.handoff_max = milliseconds(50);
  EXPECT_EQ(judged(many(3, clean), expectation).verdict, Grade::pass);
  expectation.handoff_max = milliseconds(2);
  EXPECT_THAT(judged(many(3, clean), expectation).unmet, Contains(HasSubstr("handoff <= 2 ms: 1 of 3 trials later")));
  EXPECT_THAT(judged(many(3, of_a_command), expectation).unmet, Contains(HasSubstr("handoff <= 2 ms: nothing was measured")));
  EXPECT_EQ(judged(many(3, of_a_command), {}).handoff.unrecovered, 0) << "it tells nothing of it";
  expectation.handoff_max.reset();
  expectation.builds_min = expectation.builds_max = 2;
  EXPECT_THAT(judged(many(3, clean), expectation).unmet, Contains("builds = 2: 3 of 3 trials outside, seen 1"));
}

TEST(Evaluate, ATrialThatNeverGotThereBreaksTheBound) {
  Expectation expectation;
  expectation.all_served_max = seconds(1000);
  EXPECT_THAT(judged(many(3, wedged), expectation).unmet, Contains(HasSubstr("3 never")));
}

TEST(Evaluate, TooFewConclusiveTrialsAreInconclusive) {
  Expectation expectation;
  expectation.recovered = true;
  std::vector<TrialVerdict> trials = many(3, clean);
  trials.push_back(open_trial(4));
  EXPECT_EQ(judged(trials, expectation).verdict, Grade::pass) << "three of four is the least share";
  trials.push_back(open_trial(5));
  EXPECT_EQ(judged(trials, expectation).verdict, Grade::inconclusive);
  EXPECT_EQ(judged(many(3, open_trial), expectation).verdict, Grade::inconclusive);
  EXPECT_EQ(judged({}, expectation).verdict, Grade::inconclusive);
}

TEST(Evaluate, WithoutAPromiseNothingMayBeFound) {
  EXPECT_EQ(judged(many(3, clean), {}).verdict, Grade::pass);
  EXPECT_EQ(judged(many(3, wedged), {}).verdict, Grade::fail);
}

TEST(Evaluate, WhatNobodyPromisedAnythingAboutIsNoted) {
  Expectation expectation;
  expectation.recovered = false;
  EXPECT_THAT(judged(many(3, wedged), expectation).notes,
              Contains("also seen, with no promise about it: wedged 3 of 3"));
}

TEST(Grade, TheWorstCellCounts) {
  Expectation promise;
  promise.recovered = true;
  const Cell good = judged(many(3, clean), promise);
  const Cell open = judged(many(3, open_trial), promise);
  const Cell bad = judged(many(3, wedged), promise);
  const Cell skipped = skipped_cell(cell_plan(), "no nvcc", {});
  EXPECT_EQ(grade_of({good, good}), Grade::pass);
  EXPECT_EQ(grade_of({good, skipped}), Grade::inconclusive);
  EXPECT_EQ(grade_of({bad, skipped}), Grade::fail);
  EXPECT_EQ(grade_of({good, open}), Grade::inconclusive);
  EXPECT_EQ(grade_of({good, open, bad}), Grade::fail);
  EXPECT_EQ(grade_of({skipped}), Grade::inconclusive);
  EXPECT_EQ(grade_of({}), Grade::inconclusive);
  EXPECT_EQ(grade_of({good, skipped}, Skips::waived), Grade::pass);
  EXPECT_EQ(grade_of({good, unreached_cell({}, {})}, Skips::waived), Grade::inconclusive);
  EXPECT_EQ(grade_of({good, open, skipped}, Skips::waived), Grade::inconclusive);
  EXPECT_EQ(grade_of({skipped}, Skips::waived), Grade::inconclusive) << "nothing ran";
}

}  // namespace
}  // namespace jitrace
