#include "base/fields.h"

#include <gmock/gmock.h>

#include "base/rng.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

std::string random_text(Rng& rng) {
  static const std::string letters("ab =\\\n\r\t\0\"#'ü", 15);
  std::string text;
  for (std::uint64_t n = rng.below(12); n > 0; --n) text += letters[rng.below(letters.size())];
  return text;
}

TEST(Fields, AnyValueComesBack) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    Fields fields("thing", 3);
    std::vector<std::string> values;
    for (std::uint64_t n = rng.below(5); n > 0; --n) fields.add("name", values.emplace_back(random_text(rng)));
    const auto back = Fields::parse(fields.text(), "thing", 3);
    ASSERT_TRUE(back) << fields.text();
    EXPECT_EQ(back->all("name"), values);
    EXPECT_EQ(back->text(), fields.text());
  }
}

TEST(Fields, KeepsOrderAndRepeats) {
  Fields fields("thing", 1);
  fields.add("b", "1");
  fields.add("a", std::int64_t{-2});
  fields.add("b", "3");
  EXPECT_EQ(fields.text(), "jitrace thing 1\nb 1\na -2\nb 3\n");
  EXPECT_EQ(fields.get("b").value(), "1");
  EXPECT_EQ(fields.get_int("a").value(), -2);
  EXPECT_EQ(fields.get_or("c", "else"), "else");
  EXPECT_EQ(fields.all("b").size(), 2u);
}

TEST(Fields, RefusesByName) {
  EXPECT_THAT(Fields::parse("jitrace thing 2\n", "thing", 1).error().message(), HasSubstr("version 2 is not 1"));
  EXPECT_THAT(Fields::parse("jitrace other 1\n", "thing", 1).error().message(), HasSubstr("jitrace thing N"));
  EXPECT_FALSE(Fields::parse("", "thing", 1));
  EXPECT_FALSE(Fields::parse("#!/bin/sh\n", "thing", 1));
  EXPECT_FALSE(Fields::parse("jitrace thing 1\n value without a name\n", "thing", 1));
  const auto fields = Fields::parse("jitrace thing 1\na x\n# a comment\n\nempty\n", "thing", 1);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->lines().size(), 2u);
  EXPECT_EQ(fields->get("empty").value(), "");
  EXPECT_THAT(fields->get("b").error().message(), HasSubstr("\"b\" is missing"));
  EXPECT_THAT(fields->get_int("a").error().message(), HasSubstr("no number"));
}

TEST(Pack, AnyItemsComeBack) {
  Rng rng(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::pair<std::string, std::string>> items;
    for (std::uint64_t n = rng.below(5); n > 0; --n) items.emplace_back("k" + std::to_string(n), random_text(rng));
    const auto back = unpack(pack(items));
    ASSERT_TRUE(back) << pack(items);
    EXPECT_EQ(*back, (std::map<std::string, std::string>(items.begin(), items.end())));
  }
  EXPECT_FALSE(unpack("no_value"));
  EXPECT_TRUE(unpack("")->empty());
}

}  // namespace
}  // namespace jitrace
