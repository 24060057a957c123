#include "loader/decisions.h"

#include <gtest/gtest.h>

#include "loader/embedded.h"

namespace jitrace {
namespace {

TEST(Decisions, BuiltInTableIsWholeAndSaysWhatItIsBasedOn) {
  const Result<Decisions> table = Decisions::read("");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->rows().size(), input_count * 2);
  for (const Decision& row : table->rows()) {
    EXPECT_TRUE(row.basis == "assumed" || row.basis.starts_with("measured (driver ")) << name_of(row.input);
  }
  EXPECT_EQ(table->look_up(Input::missing, DriverApi::module).code, 301);
  EXPECT_EQ(table->look_up(Input::wrong_arch, DriverApi::library).code, 209);
}

TEST(Decisions, TextReadsBackAsTheSameTable) {
  const Result<Decisions> table = Decisions::read("");
  ASSERT_TRUE(table);
  const Result<Decisions> again = Decisions::parse(table->text(), "again");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->text(), table->text());
}

TEST(Decisions, MissingDoubleAndIllTypedRowsAreErrorsWithTheirLine) {
  const std::string whole(embedded_driver_decisions);
  const std::size_t last = whole.rfind("[[row]]");
  const Result<Decisions> cut = Decisions::parse(whole.substr(0, last), "t.toml");
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message().find("whole x library stands there 0 times"), std::string::npos) << cut.error().message();
  EXPECT_FALSE(Decisions::parse(whole + whole.substr(last), "t.toml"));
  const Result<Decisions> typed = Decisions::parse("[[row]]\ncode = \"x\"\n", "t.toml");
  ASSERT_FALSE(typed);
  EXPECT_NE(typed.error().message().find("t.toml:2"), std::string::npos) << typed.error().message();
  EXPECT_FALSE(Decisions::parse("code = 1\n", "t.toml"));
  EXPECT_FALSE(Decisions::read("/nonexistent/decisions.toml"));
}

}  // namespace
}  // namespace jitrace
