#include "toolchain/artifact.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "toolchain/fake_artifact.h"

namespace jitrace {
namespace {

TEST(Artifact, FindsTheStampAndDigestsWithoutIt) {
  const ArtifactView one = view_artifact("code JITRACE:00000000000000ab more");
  const ArtifactView two = view_artifact("code JITRACE:00000000000000cd more");
  EXPECT_EQ(one.attempt, 0xabU);
  EXPECT_EQ(two.attempt, 0xcdU);
  EXPECT_EQ(one.masked_digest, two.masked_digest);
  EXPECT_NE(one.masked_digest, view_artifact("code JITRACE:00000000000000ab mor3").masked_digest);
  EXPECT_FALSE(one.mixed);
  EXPECT_FALSE(one.fake);
}

TEST(Artifact, TwoStampsAreAMix) {
  EXPECT_TRUE(view_artifact("JITRACE:00000000000000ab JITRACE:00000000000000cd").mixed);
  EXPECT_FALSE(view_artifact("JITRACE:00000000000000ab JITRACE:00000000000000ab").mixed);
  EXPECT_EQ(view_artifact("JITRACE:00000000000000ab JITRACE:00000000000000cd").attempt, 0xabU);
}

TEST(Artifact, CutOrMissingStampsAreNone) {
  EXPECT_EQ(view_artifact("").attempt, 0U);
  EXPECT_EQ(view_artifact("JITRACE:0000").attempt, 0U);
  EXPECT_EQ(view_artifact("JITRACE:%s not a stamp at all").attempt, 0U);
}

TEST(Artifact, TemporaryNamesOfNvccDoNotCount) {
  EXPECT_EQ(view_artifact("x tmpxft_000005b7_00000000-6_kernel.cudafe1.cpp").masked_digest,
            view_artifact("x tmpxft_0000069e_00000000-6_kernel.cudafe1.cpp").masked_digest);
}

TEST(FakeArtifact, DependsOnSourceAndArchAlone) {
  const std::string one = make_fake_artifact({1, 2, 3, "sm_90a"}, FakeForm::linked, "source");
  const std::string two = make_fake_artifact({4, 5, 6, "sm_90a"}, FakeForm::linked, "source");
  const ArtifactView view = view_artifact(one);
  EXPECT_TRUE(view.fake);
  EXPECT_TRUE(view.whole);
  EXPECT_EQ(view.attempt, 1U);
  EXPECT_EQ(view.key, 2U);
  EXPECT_EQ(view.arch, "sm_90a");
  EXPECT_NE(one, two);
  EXPECT_EQ(view.masked_digest, view_artifact(two).masked_digest);
  EXPECT_NE(view.masked_digest,
            view_artifact(make_fake_artifact({1, 2, 3, "sm_90a"}, FakeForm::linked, "other")).masked_digest);
  EXPECT_NE(view.masked_digest,
            view_artifact(make_fake_artifact({1, 2, 3, "sm_100a"}, FakeForm::linked, "source")).masked_digest);
}

TEST(FakeArtifact, AnyCutAndAnyFlippedBitIsSeen) {
  const std::string whole = make_fake_artifact({1, 2, 3, "sm_90a"}, FakeForm::linked, "source");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_FALSE(is_whole_fake_artifact(std::string_view(whole).substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    EXPECT_FALSE(is_whole_fake_artifact(flipped)) << at;
  }
}

TEST(FakeArtifact, TwoHalvesOfTwoAttemptsAreNotWhole) {
  const std::string one = make_fake_artifact({1, 2, 3, "sm_90a"}, FakeForm::linked, "source");
  const std::string two = make_fake_artifact({4, 2, 3, "sm_90a"}, FakeForm::linked, "other");
  EXPECT_FALSE(view_artifact(one.substr(0, one.size() / 2) + two.substr(one.size() / 2)).whole);
}

TEST(FakeArtifact, LinkingKeepsTheIdentity) {
  const std::string object = make_fake_artifact({7, 2, 3, "sm_90a"}, FakeForm::object, "source");
  const std::string linked = link_fake_artifact(object);
  ASSERT_FALSE(linked.empty());
  EXPECT_EQ(view_artifact(linked).attempt, 7U);
  EXPECT_TRUE(link_fake_artifact(object.substr(0, 1000)).empty());
  EXPECT_TRUE(link_fake_artifact(linked).empty());
}

}  // namespace
}  // namespace jitrace
