#include "reports/console.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "golden/sample_report.h"
#include "reports/page.h"
#include "reports/phrases.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

void expect_fits(const Report& report, int width) {
  for (const std::string& line : split(render_console(report, {Colour::never, width}), '\n')) {
    if (columns(line) <= static_cast<std::size_t>(width)) continue;
    // A path can be copied only whole.
    const std::string word = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    EXPECT_EQ(word.find(' '), std::string::npos) << columns(line) << " columns: " << line;
  }
}

TEST(Console, FitsEightyColumns) { expect_fits(sample_report(), 80); }

TEST(Console, FitsWithLongIds) {
  Report report = sample_report();
  for (Cell& cell : report.cells) {
    cell.id = std::string(150, 'i') + "/" + cell.id;
    cell.strategy += "-with-a-name-that-nobody-would-give-to-a-strategy in two words";
    cell.findings["a_class_that_has_a_very_long_name"] = 1234567;
    cell.unmet.push_back(std::string(300, 'u'));
    cell.cause = std::string(200, 'c');
  }
  expect_fits(report, 80);
  expect_fits(report, 60);
}

TEST(Console, ColourOnlyWhereAsked) {
  EXPECT_EQ(render_console(sample_report()).find('\x1b'), std::string::npos);
  EXPECT_NE(render_console(sample_report(), {Colour::always, 80}).find('\x1b'), std::string::npos);
}

TEST(Console, SaysTheWordsThatPeopleLookFor) {
  const std::string text = render_console(sample_report());
  EXPECT_NE(text.find("wedged 20 of 20"), std::string::npos);
  EXPECT_NE(text.find("recovered 20 of 20"), std::string::npos);
  EXPECT_NE(text.find("jitrace replay"), std::string::npos);
  EXPECT_NE(text.find("no libnvrtc.so was found"), std::string::npos);
}

TEST(Phrases, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration(0), "0 ms");
  EXPECT_EQ(duration(0.004), "0.00 ms");
  EXPECT_EQ(duration(1.4), "1.40 ms");
  EXPECT_EQ(duration(9.996), "10.0 ms");
  EXPECT_EQ(duration(12.34), "12.3 ms");
  EXPECT_EQ(duration(512.4), "512 ms");
  EXPECT_EQ(duration(999.9), "1.00 s");
  EXPECT_EQ(duration(1412), "1.41 s");
  EXPECT_EQ(duration(18800), "18.8 s");
  EXPECT_EQ(duration(300000), "300 s");
}

TEST(Phrases, Headlines) {
  const Report report = sample_report();
  EXPECT_EQ(headline(report.cells[0], Detail::headline), "wedged 20 of 20");
  EXPECT_EQ(headline(report.cells[1]), "recovered 20 of 20");
  EXPECT_EQ(recovery_words(report.cells[1]), "handoff p50 1.65 ms, first served 1.41 s, all served 1.52 s");
  EXPECT_EQ(headline(report.cells[3]), "inconclusive 20 of 20");
  EXPECT_EQ(headline(report.cells[4]), "none in 200 (below 1.5 %)");
  EXPECT_EQ(headline(report.cells[5]), "skipped");
}

TEST(Page, ACommandIsBrokenBetweenItsWordsOnly) {
  Page page({Colour::never, 60});
  page.command("  ", "jitrace replay 'a directory whose name is long/with it'\\''s blanks/and more of them' --trials 3");
  EXPECT_EQ(page.take(),
            "  jitrace replay \\\n"
            "      'a directory whose name is long/with it'\\''s blanks/and more of them' \\\n"
            "      --trials 3\n");
}

TEST(Wrap, AtSpacesAndWhereItMust) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap("", 4), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("\xc3\xa4\xc3\xb6\xc3\xbc x", 3), (std::vector<std::string>{"\xc3\xa4\xc3\xb6\xc3\xbc", "x"}));
}

TEST(Wrap, FitCutsAndFills) {
  EXPECT_EQ(fit("abc", 5, Fill::yes), "abc  ");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(columns(fit("abcdef", 4, Fill::yes)), 4u);
}

}  // namespace
}  // namespace jitrace
