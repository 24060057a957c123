// `jitrace sweep SCENARIO`: a matrix is held against what the scenario promises.

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

constexpr const char* builder = JITRACE_BINARY_DIR "/tests/programs/static_builder";
constexpr const char* mkdir_scenario = JITRACE_SOURCE_DIR "/scenarios/subjects/mkdir.toml";

class SweepScenario : public E2eTest {
 protected:
  std::string baton(const std::string& sweeps) const {
    return scenario("[[subject]]\nname = \"baton\"\ncommand = [\"" + std::string(builder) + "\", \"{cache}\", \"--baton\"]\n" + sweeps);
  }
  Json matrix(const std::string& subject) const { return Json::parse(read_file(out() + "/" + subject + "/sweep.json").value()); }
  void TearDown() override {
    expect_nothing_left();
    E2eTest::TearDown();
  }
};

TEST_F(SweepScenario, HangsThatArePromisedAreNoFailure) {
  const Ran ran = run({"sweep", "--polls", "200", mkdir_scenario, "--out", out(), "--cache", cache()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_GT(matrix("mkdir")["summary"]["hang"].get<int>(), 0);
  EXPECT_EQ(matrix("mkdir")["unmet"], Json::array());
  EXPECT_EQ(matrix("mkdir")["verdict"], "pass");
}

TEST_F(SweepScenario, EveryCellThatIsNotAsPromisedIsNamed) {
  // The truth is a hang from the creation of `lock` to the rename.
  const std::string file = baton(
      "[[sweep]]\nafter = \"open lock *O_EXCL*\"\nuntil = \"rename artifact.new *\"\nends = [\"hang\"]\n"
      "[[sweep]]\nafter = \"rename artifact.new *\"\ncolumns = [\"tree\"]\nends = [\"torn\", \"failed\"]\n"
      "[[sweep]]\nafter = \"no such call\"\nends = [\"hang\"]\n");
  const Ran ran = run({"sweep", file, "--out", out()});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json found = matrix("baton");
  std::size_t after_rename = 0;
  bool renamed = false;
  for (const Json& row : found["rows"]) {
    renamed = renamed || row["step"].get<std::string>().find("rename artifact.new") != std::string::npos;
    after_rename += renamed ? 1 : 0;
  }
  ASSERT_GT(after_rename, 0u);
  ASSERT_EQ(found["unmet"].size(), after_rename + 1) << found["unmet"].dump(1);
  EXPECT_EQ(found["unmet"][0]["seen"], "no such step");
  EXPECT_EQ(found["unmet"][0]["step"], "no such call");
  EXPECT_EQ(found["unmet"][1]["expected"], "torn or failed");
  EXPECT_EQ(found["unmet"][1]["seen"], "recovered");
  EXPECT_EQ(found["unmet"][1]["column"], "tree");
  EXPECT_NE(ran.out.find("expected torn or failed, seen recovered"), std::string::npos) << ran.out;
  EXPECT_EQ(wide_lines(ran.out, 80), std::vector<std::string>()) << ran.out;
  const std::string junit = read_file(out() + "/baton/junit.xml").value();
  EXPECT_NE(junit.find("failures=\"" + std::to_string(after_rename + 1) + "\""), std::string::npos) << junit;
}

TEST_F(SweepScenario, AHangThatNobodyPromisedFails) {
  EXPECT_EQ(run({"sweep", baton(""), "--out", out()}).code, 1);
}

TEST_F(SweepScenario, WhatCannotBeSweptIsSaidInASentence) {
  const Ran wrong = run({"sweep", baton("[[sweep]]\nends = [\"hung\"]\n"), "--out", out()});
  EXPECT_EQ(wrong.code, 64);
  EXPECT_NE(wrong.err.find("scenario.toml:5:9: unknown end \"hung\"; did you mean \"hang\"?"), std::string::npos) << wrong.err;
  EXPECT_EQ(run({"sweep", at("none.toml"), "--out", out()}).code, 64);
  EXPECT_FALSE(exists(out()));
}

}  // namespace
}  // namespace jitrace::test
