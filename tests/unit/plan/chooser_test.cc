#include "plan/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jitrace {
namespace {

TEST(PrefixChooser, TakesThePrefixAndThenTheFirst) {
  PrefixChooser chooser({{1, "open lock"}, {0, "rename"}});
  const std::vector<Step> enabled{{0, "rename"}, {1, "open lock"}};
  EXPECT_EQ(*chooser.choose(enabled), 1u);
  EXPECT_EQ(*chooser.choose(enabled), 0u);
  EXPECT_EQ(*chooser.choose(enabled), 0u);
}

TEST(PrefixChooser, NamesTheStepAtWhichTheSubjectDiverged) {
  PrefixChooser chooser({{1, "open lock"}});
  const auto choice = chooser.choose({{0, "rename"}});
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().message(), testing::HasSubstr("step 1: open lock of slot 1 is not enabled"));
}

}  // namespace
}  // namespace jitrace
