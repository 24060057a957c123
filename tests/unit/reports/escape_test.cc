#include "reports/escape.h"

#include <gtest/gtest.h>

namespace jitrace {
namespace {

constexpr auto bad = "\xef\xbf\xbd";

TEST(Utf8, WellFormedTextStays) {
  EXPECT_EQ(valid_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
}

TEST(Utf8, EachBadByteIsReplaced) {
  EXPECT_EQ(valid_utf8("\xff"), bad);
  EXPECT_EQ(valid_utf8("a\x80z"), std::string("a") + bad + "z");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), std::string(bad) + bad) << "overlong";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), std::string(bad) + bad + bad) << "surrogate";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), std::string(bad) + bad + bad + bad) << "above U+10FFFF";
  EXPECT_EQ(valid_utf8("\xe2\x82"), std::string(bad) + bad) << "cut at the end of a text";
}

TEST(Terminal, NoByteOfASubjectIsACommand) {
  EXPECT_EQ(for_terminal("\x1b[2J\x07"), "\\x1b[2J\\x07");
  EXPECT_EQ(for_terminal("\xc2\x9b" "2J"), "\\xc2\\x9b2J") << "C1 control";
  EXPECT_EQ(for_terminal("a\nb\tc\rd"), "a b c\\x0dd");
  EXPECT_EQ(for_terminal(std::string_view("\0", 1)), "\\x00");
}

TEST(Xml, MarkupAndWhatXmlCannotHold) {
  EXPECT_EQ(for_xml("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;");
  EXPECT_EQ(for_xml("]]>"), "]]&gt;");
  EXPECT_EQ(for_xml("\x01\xef\xbf\xbf"), "\\x01\\xef\\xbf\\xbf");
  EXPECT_EQ(for_xml("a\nb"), "a&#10;b");
}

TEST(Markdown, NoMarkupNoHtmlNoMention) {
  EXPECT_EQ(for_markdown("a|b"), "a\\|b");
  EXPECT_EQ(for_markdown("<img src=x>"), "&lt;img src=x&gt;");
  EXPECT_EQ(for_markdown("@you #1 [x](y)"), "&#64;you &#35;1 \\[x\\](y)");
  EXPECT_EQ(for_markdown("one\ntwo"), "one two");
  EXPECT_EQ(for_markdown("`code` *bold*"), "\\`code\\` \\*bold\\*");
}

TEST(Command, ALineStaysOneLine) {
  EXPECT_EQ(for_command_data("100%\n::error::x"), "100%25%0A::error::x");
  EXPECT_EQ(for_command_property("a:b,c"), "a%3Ab%2Cc");
}

}  // namespace
}  // namespace jitrace
