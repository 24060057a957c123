#include <filesystem>

#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string command = "[[subject]]\nname = \"mkdir\"\ncommand = [\"sh\", \"{here}/a.sh\", \"{cache}\", \"{here}{here}\"]\n";

TEST(Sweep, ARangeWithAllItsParts) {
  const Scenario scenario = good(command + R"(
[[sweep]]
subject = "mkdir"
after = "open lock *O_EXCL*"
role = "*ld"
until = "unlink lock"
columns = ["tree", "builder_orphan_held"]
ends = ["hang", "torn"]
)");
  ASSERT_THAT(scenario.sweeps, SizeIs(1));
  const SweepEntry& entry = scenario.sweeps[0];
  EXPECT_THAT(entry.subjects, ElementsAre("mkdir"));
  EXPECT_EQ(entry.after, "open lock *O_EXCL*");
  EXPECT_EQ(entry.role, "*ld");
  EXPECT_EQ(entry.until, "unlink lock");
  EXPECT_THAT(entry.columns, ElementsAre("tree", "builder_orphan_held"));
  EXPECT_THAT(entry.ends, ElementsAre("hang", "torn"));
}

TEST(Sweep, OnlyTheEndsAreNeeded) {
  const Scenario scenario = good(command + "[[sweep]]\nends = \"failed\"\n");
  ASSERT_THAT(scenario.sweeps, SizeIs(1));
  EXPECT_EQ(scenario.sweeps[0].after + scenario.sweeps[0].until, "");
  EXPECT_EQ(scenario.sweeps[0].role, "*");
  EXPECT_THAT(scenario.sweeps[0].columns, IsEmpty());
  EXPECT_THAT(good(command).sweeps, IsEmpty());
}

TEST(Sweep, HereIsWhereTheFileLies) {
  const std::string here = (std::filesystem::current_path() / "scenarios").string();
  EXPECT_THAT(good(command).subjects.at(0).command, ElementsAre("sh", here + "/a.sh", "{cache}", here + here));
}

TEST(Sweep, WhatIsWrongIsSaidWithItsPlace) {
  struct Wrong {
    std::string text, at, says;
  };
  const std::vector<Wrong> wrongs = {
      {command + "[[sweep]]\nafter = \"x\"\n", ":4:1: ", "names nothing"},
      {command + "[[sweep]]\nends = []\n", ":5:8: ", "names nothing"},
      {command + "[[sweep]]\nends = [\"hung\"]\n", ":5:9: ", "unknown end \"hung\"; did you mean \"hang\"?"},
      {command + "[[sweep]]\nends = [\"not_run\"]\n", ":5:9: ", "unknown end"},
      {command + "[[sweep]]\nends = [\"hang\"]\ncolumns = [\"tre\"]\n", ":6:12: ", "did you mean \"tree\"?"},
      {command + "[[sweep]]\nends = [\"hang\"]\nuntill = \"x\"\n", ":6:1: ", "did you mean \"until\"?"},
      {command + "[[sweep]]\nends = [\"hang\"]\nafter = \"\"\n", ":6:9: ", "matches no step"},
      {command + "[[sweep]]\nends = [\"hang\"]\nafter = 3\n", ":6:9: ", "an integer"},
      {command + "[[sweep]]\nends = [\"hang\"]\nrole = \"*ld\"\n", ":6:8: ", "not there"},
      {command + "[[sweep]]\nends = [\"hang\"]\nsubject = \"mkdr\"\n", ":6:11: ", "did you mean \"mkdir\"?"},
      {minimal + "[[sweep]]\nends = [\"hang\"]\nsubject = \"torch-batn\"\n", ":5:11: ", "did you mean \"torch-baton\"?"},
      {command + "[sweep]\nends = [\"hang\"]\n", ":4:1: ", "not a list of tables"},
  };
  for (const Wrong& wrong : wrongs) {
    const ParsedScenario parsed = parse_text(wrong.text);
    ASSERT_THAT(parsed.errors, SizeIs(1)) << wrong.text;
    EXPECT_THAT(parsed.errors[0], HasSubstr("scenarios/x.toml" + wrong.at)) << wrong.text;
    EXPECT_THAT(parsed.errors[0], HasSubstr(wrong.says)) << wrong.text;
  }
}

}  // namespace
}  // namespace jitrace
