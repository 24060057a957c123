// The program's contract with whoever runs it in CI: one code a situation.

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

class ExitCode : public E2eTest {};

TEST_F(ExitCode, EveryExpectationMetIs0) {
  const Ran ran = run({"run", scenario(quick_scenario("[[expect]]\nrecovered = true\n")), "--out", out()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_EQ(read_report(out())["verdict"], "pass");
}

TEST_F(ExitCode, ABrokenPromiseIs1) {
  const Ran ran = run({"run", scenario(quick_scenario("[[expect]]\nalways = [\"hang\"]\n")), "--out", out()});
  EXPECT_EQ(ran.code, 1) << ran.err << ran.out;
  const nlohmann::json report = read_report(out());
  EXPECT_EQ(report["verdict"], "fail");
  EXPECT_EQ(report["cells"][0]["met"], false);
  EXPECT_EQ(report["cells"][0]["unmet"].size(), 1u);
}

TEST_F(ExitCode, AFindingThatNobodyPromisedIs1) {
  const Ran ran = run({"run", put("work/bad.toml", "[scenario]\nname = \"bad\"\n[workload]\ntoolchains = [\"fake\"]\nworkers = 2\n"
                                                   "trials = 2\nfake_ms = 20\n[[subject]]\npreset = \"torch-baton\"\n[[fault]]\n"
                                                   "name = \"kill\"\nwho = \"builder\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n"),
                       "--out", out(), "--cache", cache()});
  EXPECT_EQ(ran.code, 1) << ran.err << ran.out;
  EXPECT_EQ(read_report(out())["cells"][0]["findings"]["hang"], 2);
  EXPECT_NE(ran.out.find("jitrace replay"), std::string::npos) << ran.out;
}

TEST_F(ExitCode, AFaultThatDidNotFireIs2) {
  const Ran ran = run({"run", scenario(quick_scenario("[[fault]]\nname = \"late\"\nwho = \"builder\"\nat = \"compile\"\n"
                                                      "what = \"SIGKILL\"\noccurrence = 7\n")),
                       "--out", out()});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const nlohmann::json report = read_report(out());
  EXPECT_EQ(report["verdict"], "inconclusive");
  EXPECT_EQ(report["cells"][0]["inconclusive"], 1);
  EXPECT_EQ(report["cells"][0]["faults"]["planned"], 1);
  EXPECT_EQ(report["cells"][0]["faults"]["fired"], 0);
}

TEST_F(ExitCode, NothingThatCouldRunIs2) {
  // No strategy without taking over passes break_lock.
  const Ran ran = run({"run", scenario(quick_scenario("[[fault]]\nname = \"cannot\"\nwho = \"builder\"\nat = \"break_lock\"\n"
                                                      "what = \"SIGKILL\"\n")),
                       "--out", out()});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  EXPECT_NE(ran.err.find("does not pass break_lock"), std::string::npos) << "it says why: " << ran.err;
}

// What was not reached is not what the machine cannot do: the waiver is for the latter.
TEST_F(ExitCode, CellsThatTheBudgetDidNotReachAre2EvenWithTheWaiver) {
  const Ran ran = run({"run", scenario(quick_scenario("[[fault]]\nname = \"none\"\n[[fault]]\nname = \"kill\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n",
                                                      "fake_ms = 1500\n")),
                       "--out", out(), "--time-budget", "1s", "--allow-skips"});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  EXPECT_EQ(read_report(out())["cells"][1]["skipped"]["reason"], "no trial was run before the run ended");
}

TEST_F(ExitCode, AMissingToolchainIs2) {
  const Ran ran = run({"run", smoke, "--out", out(), "--toolchain", "nvcc", "--nvcc", at("nowhere/nvcc")});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const nlohmann::json report = read_report(out());
  for (const nlohmann::json& cell : report["cells"]) {
    const std::string reason = cell["skipped"]["reason"];
    EXPECT_NE(reason.find(at("nowhere/nvcc")), std::string::npos) << reason;
  }
}

TEST_F(ExitCode, HelperProgramsThatAreMissingAre70) {
  ASSERT_TRUE(make_dirs(at("alone")));
  ASSERT_TRUE(copy_file(program_, at("alone/jitrace")));
  program_ = at("alone/jitrace");
  const Ran ran = run({"run", smoke, "--out", out()});
  EXPECT_EQ(ran.code, 70) << ran.err << ran.out;
  EXPECT_NE(ran.err.find(at("alone")), std::string::npos) << ran.err;
  EXPECT_EQ(line_count(ran.err), 1) << ran.err;
  EXPECT_FALSE(exists(out()));
}

}  // namespace
}  // namespace jitrace::test
