#include "plan/sweep_expected.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SweepColumn tree = SweepColumn::tree, held = SweepColumn::builder_orphan_held;

SweepRow row(const std::string& step, SweepEnd end, SweepEnd alone = SweepEnd::not_applicable) {
  return {step, 2, {{tree, {end, false, 0, "", {}, "", ""}}, {held, {alone, false, 0, "", {}, "", ""}}}};
}

// A baton: hangs from its creation to its removal.
SweepMatrix baton() {
  SweepMatrix matrix;
  matrix.calls = 9;
  matrix.rows = {row("before A: open lock O_RDWR|O_CREAT|O_EXCL", SweepEnd::recovered),
                 row("after A: open lock O_RDWR|O_CREAT|O_EXCL", SweepEnd::hang, SweepEnd::hang),
                 row("after A/sh/ld: write k.so (2)", SweepEnd::hang, SweepEnd::recovered),
                 row("after A: unlink lock", SweepEnd::recovered)};
  return matrix;
}

SweepEntry entry(const std::string& after, const std::string& until, std::vector<std::string> ends) {
  SweepEntry entry;
  entry.after = after;
  entry.until = until;
  entry.ends = std::move(ends);
  return entry;
}

SweepUnmet of(std::size_t at, SweepColumn column, const SweepMatrix& matrix, const std::string& expected, const std::string& seen) {
  return {at, column, matrix.rows[at].step, expected, seen};
}

TEST(SweepExpected, EveryCellHasToRecoverWhereNothingIsSaid) {
  const SweepMatrix matrix = baton();
  EXPECT_THAT(unmet_of(matrix, {}), ElementsAre(of(1, tree, matrix, "recovered", "hang"), of(1, held, matrix, "recovered", "hang"),
                                                of(2, tree, matrix, "recovered", "hang")));
}

TEST(SweepExpected, ARangeGoesFromTheFirstRowThatMatchesToTheOneThatEndsIt) {
  const SweepMatrix matrix = baton();
  // The first row stands before its call, and so is not after it.
  EXPECT_THAT(unmet_of(matrix, {entry("open lock *O_EXCL*", "unlink lock", {"hang"})}),
              ElementsAre(of(2, held, matrix, "hang", "recovered")));
  EXPECT_THAT(unmet_of(matrix, {entry("open lock *O_EXCL*", "unlink lock", {"hang", "recovered"})}), IsEmpty());
  EXPECT_THAT(unmet_of(matrix, {entry("open lock *", "", {"hang", "torn"})}),
              ElementsAre(of(2, held, matrix, "hang or torn", "recovered"), of(3, tree, matrix, "hang or torn", "recovered")));
  EXPECT_THAT(unmet_of(matrix, {entry("", "unlink *", {"hang", "recovered"})}), IsEmpty());
}

TEST(SweepExpected, TheLastWordHoldsAndColumnsKeepToThemselves) {
  const SweepMatrix matrix = baton();
  SweepEntry exception = entry("write k.so (2)", "unlink lock", {"recovered"});
  exception.columns = {"builder_orphan_held"};
  EXPECT_THAT(unmet_of(matrix, {entry("open lock *", "unlink lock", {"hang"}), exception}), IsEmpty());
  EXPECT_THAT(unmet_of(matrix, {exception, entry("open lock *", "unlink lock", {"hang"})}),
              ElementsAre(of(2, held, matrix, "hang", "recovered")));
}

TEST(SweepExpected, AStepThatIsNotThereIsSaid) {
  const SweepMatrix matrix = baton();
  SweepMatrix unlocked;
  unlocked.rows = {row("after A: mkdir .", SweepEnd::recovered)};
  EXPECT_THAT(unmet_of(unlocked, {entry("open lock *", "", {"hang"})}),
              ElementsAre(SweepUnmet{std::nullopt, std::nullopt, "open lock *", "hang", "no such step"}));
  EXPECT_EQ(unmet_of(matrix, {entry("open lock *", "rmdir lock", {"hang"})}).front().step, "rmdir lock");
  // What ends a range is behind what begins it.
  EXPECT_EQ(unmet_of(matrix, {entry("unlink lock", "open lock *", {"hang"})}).front().seen, "no such step");
  SweepEntry other = entry("write k.so", "unlink lock", {"hang", "recovered"});
  other.role = "*/as";
  EXPECT_EQ(unmet_of(matrix, {other}).front().seen, "no such step");
  other.role = "*ld";
  EXPECT_THAT(unmet_of(matrix, {other}), ElementsAre(of(1, tree, matrix, "recovered", "hang"), of(1, held, matrix, "recovered", "hang")));
}

TEST(SweepExpected, WhatWasNotDecidedKeepsItsPromiseAndPassesNothing) {
  SweepMatrix matrix = baton();
  matrix.unmet = unmet_of(matrix, {entry("open lock *", "unlink lock", {"hang", "recovered"})});
  EXPECT_EQ(verdict_of(matrix), SweepVerdict::pass) << "hangs were promised";
  matrix.rows[2].cells[tree].end = SweepEnd::inconclusive;
  EXPECT_THAT(unmet_of(matrix, {entry("open lock *", "unlink lock", {"hang", "recovered"})}), IsEmpty());
  EXPECT_EQ(verdict_of(matrix), SweepVerdict::inconclusive);
  matrix.unmet = unmet_of(matrix, {});
  EXPECT_EQ(verdict_of(matrix), SweepVerdict::findings);
}

TEST(SweepExpected, AnEntryIsForItsSubjects) {
  Scenario scenario;
  scenario.sweeps = {entry("a", "", {"hang"}), entry("b", "", {"hang"})};
  scenario.sweeps[1].subjects = {"mkdir"};
  EXPECT_EQ(sweeps_of(scenario, "mkdir").size(), 2u);
  EXPECT_EQ(sweeps_of(scenario, "flock").size(), 1u);
}

// A scenario knows columns and ends by name only.
TEST(SweepExpected, TheNamesOfAScenarioAreThoseOfAMatrix) {
  const Catalogue catalogue;
  for (std::size_t i = 0; i < catalogue.sweep_columns.size(); ++i) {
    EXPECT_EQ(catalogue.sweep_columns[i], name_of(static_cast<SweepColumn>(i)));
  }
  EXPECT_EQ(name_of(static_cast<SweepColumn>(catalogue.sweep_columns.size())), "unknown");
  std::vector<std::string> ends;
  for (int i = 0; i <= static_cast<int>(SweepEnd::not_run); ++i) {
    const auto end = static_cast<SweepEnd>(i);
    if (end == SweepEnd::recovered || is_finding(end)) ends.emplace_back(name_of(end));
  }
  EXPECT_EQ(catalogue.sweep_ends, ends);
}

TEST(SweepExpected, FaultsHaveEntriesOfTheirOwn) {
  SweepMatrix matrix;
  const auto fault = [](const std::string& step, const std::string& what, SweepEnd end) {
    SweepFault out{step, what, 1, {}};
    out.cell.end = end;
    return out;
  };
  matrix.faults = {fault("after A: mkdir lock", "lost reply, EEXIST", SweepEnd::hang),
                   fault("after A: mkdir lock", "EIO", SweepEnd::recovered),
                   fault("after A: rmdir lock", "EIO", SweepEnd::hang)};
  SweepEntry lost;
  lost.faults = {"lost reply*"};
  lost.ends = {"hang"};
  // What nobody speaks of is promised to recover.
  const auto unmet = unmet_of(matrix, {lost});
  ASSERT_EQ(unmet.size(), 1u);
  EXPECT_EQ(unmet[0].fault, std::optional<std::size_t>(2));
  EXPECT_EQ(unmet[0].step, "EIO at after A: rmdir lock");
  EXPECT_EQ(unmet[0].expected, "recovered");
  EXPECT_EQ(unmet[0].seen, "hang");
  SweepEntry removal;
  removal.faults = {"EIO"};
  removal.after = "rmdir lock";
  removal.ends = {"hang"};
  EXPECT_THAT(unmet_of(matrix, {lost, removal}), ::testing::IsEmpty());
  // An entry without a fault is about kills alone.
  SweepEntry kills;
  kills.ends = {"hang"};
  EXPECT_EQ(unmet_of(matrix, {kills}).size(), 2u);
}

}  // namespace
}  // namespace jitrace
