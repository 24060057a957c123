#include "base/text.h"

#include <limits>

#include "unit/base/fixture.h"

namespace jitrace {
namespace {

using Texts = std::vector<std::string>;

TEST(Text, HexGoesThereAndBack) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{0xabc}, ~std::uint64_t{0}}) {
    EXPECT_EQ(hex(value).size(), 16u);
    EXPECT_EQ(parse_hex(hex(value)), value);
  }
  EXPECT_EQ(hex(0xabc), "0000000000000abc");
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int(std::to_string(std::numeric_limits<std::int64_t>::min())),
            std::numeric_limits<std::int64_t>::min());
  for (const char* bad : {"", " 1", "1 ", "1x", "+1", "0x1", "9223372036854775808", "-"}) {
    EXPECT_FALSE(parse_int(bad)) << bad;
  }
  EXPECT_FALSE(parse_hex("g"));
  EXPECT_FALSE(parse_hex("10000000000000000"));
  EXPECT_EQ(parse_real("2.5e3"), 2500.0);
  EXPECT_FALSE(parse_real("2.5 "));
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(split("", ','), Texts{});
  EXPECT_EQ(split("a", ','), Texts{"a"});
  EXPECT_EQ(split(",a,,b,", ','), (Texts{"", "a", "", "b", ""}));
  EXPECT_EQ(join_text({}, ", "), "");
  EXPECT_EQ(join_text({"a", "", "b"}, ", "), "a, , b");
}

TEST(Text, QuotesLeaveNothingToTheShell) {
  for (const char* plain : {"plain-word_1.2/3", "{cache}", "--out={out}/x", "{}"}) EXPECT_EQ(shell_quoted(plain), plain);
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_quoted(""), "''");
  for (const char* braces : {"{", "}", "{a,b}", "{1..3}"}) EXPECT_EQ(shell_quoted(braces), "'" + std::string(braces) + "'");
  EXPECT_EQ(shell_line({"sh", "-c", "a; b"}), "sh -c 'a; b'");
  EXPECT_EQ(shell_line({}), "");
}

TEST(Text, NearestFindsTypingErrors) {
  const Texts names = {"kill", "stop", "wipe", "workers"};
  EXPECT_EQ(nearest("kil", names), "kill");
  EXPECT_EQ(nearest("ikll", names), "kill");
  EXPECT_EQ(nearest("worker", names), "workers");
  EXPECT_EQ(nearest("stop", names), "stop");
  EXPECT_EQ(nearest("toolchain", names), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace jitrace
