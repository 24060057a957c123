// The rule itself: a suite that cannot say that the harness has gone blind would say nothing.

#include "power/duel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "power/planted/bugs.h"
#include "strategy/preset.h"

namespace jitrace::power {
namespace {

using testing::HasSubstr;

Tally tally(int trials, int shown, FindingClass kind = FindingClass::hang) {
  Tally tally;
  for (int i = 0; i < trials; ++i) {
    TrialVerdict verdict;
    verdict.trial = i + 1;
    if (i < shown) verdict.findings.push_back({kind, "cause", i + 1, 1, 0, 0, {"evidence"}});
    add(tally, verdict);
  }
  return tally;
}

TEST(Duel, AlwaysAgainstNeverIsFine) { EXPECT_EQ(complaint(FindingClass::hang, tally(5, 5), tally(5, 0)), ""); }

TEST(Duel, AnArmedArmThatPassesIsBlindness) {
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 0), tally(5, 0)), HasSubstr("gone blind"));
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 4), tally(5, 0)), HasSubstr("4 of 5"));
}

TEST(Duel, AnotherClassThanItsOwnIsBlindness) {
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 5, FindingClass::torn), tally(5, 0)), HasSubstr("seen instead"));
}

TEST(Duel, AnyFindingOfTheControlIsAFalseAlarm) {
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 5), tally(5, 1, FindingClass::leak)), HasSubstr("false alarm"));
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 5), tally(5, 2)), HasSubstr("tells nothing"));
}

TEST(Duel, NoTrialsAreNoProof) {
  EXPECT_THAT(complaint(FindingClass::hang, tally(0, 0), tally(0, 0)), HasSubstr("gone blind"));
  EXPECT_THAT(complaint(FindingClass::hang, tally(5, 5), tally(0, 0)), HasSubstr("tells nothing"));
}

TEST(Duel, AnInconclusiveTrialIsRefusedUnlessItWasAskedFor) {
  Tally armed = tally(2, 2);
  armed.inconclusive = {"trial 1: stalled"};
  EXPECT_THAT(complaint(FindingClass::hang, armed, tally(2, 0)), HasSubstr("stalled"));
  EXPECT_EQ(complaint(FindingClass::hang, armed, tally(2, 0), Inconclusive::allowed_when_armed), "");
  EXPECT_THAT(complaint(FindingClass::hang, tally(2, 2), armed, Inconclusive::allowed_when_armed),
              HasSubstr("control was inconclusive"));
}

// The table of the README is the list of what is armed.
TEST(Coverage, EveryClassAndEveryPlantedBugHasARow) {
  const auto text = read_file(JITRACE_SOURCE_DIR "/tests/power/README.md");
  ASSERT_TRUE(text) << text.error().message();
  for (const std::string& name : finding_class_names()) {
    EXPECT_NE(text->find("\n| `" + name + "` | "), std::string::npos) << name << " is never shown to be seen";
  }
  for (const Bug& bug : bugs()) {
    EXPECT_NE(text->find("`" + std::string(bug.name) + "`:"), std::string::npos) << bug.name << " is in no row";
    EXPECT_NE(find_preset(bug.base), nullptr) << bug.name << " is planted in a row that is not there";
  }
}

}  // namespace
}  // namespace jitrace::power
