// sweep --preload: one Python imports for all trials, and what is found is what fresh processes find.

#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "support/python_baton.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

class Preload : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    put("work/counted.py", "import os\npid = os.getpid()\nwith open(" + quoted(at("imports")) +
                               ", 'a') as file:\n    file.write('x')\n");
    put("work/baton.py", python_baton);
  }
  void TearDown() override {
    expect_nothing_left();
    E2eTest::TearDown();
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }
  std::vector<std::string> line(const std::string& dir, std::vector<std::string> flags,
                                const std::string& script = "baton.py") const {
    std::vector<std::string> arguments{"sweep", "--polls", "50", "--out", at(dir)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const std::vector<std::string> command{"--", "python3", at("work/" + script), "{cache}"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
  }
  Json json(const std::string& dir) const { return Json::parse(read_file(at(dir) + "/sweep.json").value()); }
  // "tree after A: unlink lock: recovered", but for how the processes came to be.
  static std::vector<std::string> ends(const Json& matrix) {
    std::vector<std::string> out;
    for (const Json& row : matrix["rows"]) {
      for (const auto& [column, cell] : row["cells"].items()) {
        out.push_back(column + " " + row["step"].get<std::string>() + ": " + cell["end"].get<std::string>());
      }
    }
    return out;
  }
};

TEST_F(Preload, EveryCellEndsAsWithFreshProcesses) {
  const Ran fresh = run(line("fresh", {}));
  ASSERT_EQ(fresh.code, 1) << fresh.out << fresh.err;
  const std::size_t before = read_file(at("imports"))->size();
  const Ran forked = run(line("forked", {"--preload", "counted"}));
  ASSERT_EQ(forked.code, 1) << forked.out << forked.err;
  const Json matrix = json("forked");
  EXPECT_EQ(ends(matrix), ends(json("fresh")));
  EXPECT_EQ(matrix["downgrades"], Json::array());
  std::size_t confirmed = 0, others = 0;
  for (const Json& row : matrix["rows"]) {
    for (const Json& cell : row["cells"]) {
      if (cell["end"] != "not_applicable") ++(cell.at("processes") == "confirmed" ? confirmed : others);
    }
  }
  EXPECT_GT(confirmed, 0u);
  EXPECT_GT(others, 0u);
  EXPECT_NE(forked.out.find("forked from one process with its imports done"), std::string::npos) << forked.out;
  // Three recordings, the imports alone, the zygote; then those that confirm, of three fresh processes at most.
  const std::size_t imports = read_file(at("imports"))->size() - before;
  EXPECT_GE(imports, 5u);
  EXPECT_LE(imports, 5u + 3 * confirmed);
  for (const std::string& name : list_dir(at("forked/replays")).value()) {
    if (!name.ends_with(".plan")) continue;
    EXPECT_EQ(read_file(at("forked/replays/" + name))->find("zygote"), std::string::npos) << name;
  }
}

TEST_F(Preload, ADifferenceBetweenForkedAndFreshProcessesIsNoCleanResult) {
  put("work/differs.py", std::string(python_baton) + "if counted.pid != os.getpid():\n    sys.exit('I was forked')\n");
  const Ran ran = run(line("out", {"--preload", "counted"}, "differs.py"));
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  const Json downgrades = json("out")["downgrades"];
  ASSERT_FALSE(downgrades.empty()) << ran.out;
  EXPECT_NE(downgrades[0].get<std::string>().find("failed from the preloaded process, recovered in fresh ones"),
            std::string::npos)
      << downgrades;
}

TEST_F(Preload, WhatCannotBePreloadedIsSaidInASentence) {
  put("work/uses.py", "open(" + quoted(at("beside")) + ", 'a').close()\n");
  struct Wrong {
    std::vector<std::string> arguments;
    const char* says;
  };
  for (const Wrong& wrong :
       {Wrong{{"sweep", "--out", at("o1"), "--preload", "os", "--", "sh", "x.sh", "{cache}"}, "starts with sh"},
        Wrong{{"sweep", "--out", at("o2"), "--preload", "os", "--", "python3", "-c", "0"}, "python3 SCRIPT"},
        Wrong{{"sweep", "--out", at("o3"), "--preload", "a b", "--", "python3", "x.py"}, "no name of a Python module"},
        Wrong{{"sweep", "--out", at("o3"), "--preload", "", "--", "python3", "x.py"}, "no name of a Python module"},
        Wrong{line("o4", {"--preload", "no_such_module"}), "No module named 'no_such_module'"},
        Wrong{line("o5", {"--preload", "uses", "--beside", at("beside")}), "importing uses uses the cache"}}) {
    const Ran ran = run(wrong.arguments);
    EXPECT_EQ(ran.code, 64) << ran.out << ran.err;
    EXPECT_NE(ran.err.find(wrong.says), std::string::npos) << ran.err;
    EXPECT_LE(line_count(ran.err), 2) << ran.err;
  }
}

class PreloadEnds : public Preload, public testing::WithParamInterface<int> {};

TEST_P(PreloadEnds, NothingStays) {
  Driver driver = start(line("out", {"--preload", "counted"}));
  ASSERT_TRUE(driver.wait_for_error("whole tree, from snapshots"));
  ASSERT_EQ(::kill(driver.process().pid(), GetParam()), 0);
  const Ran ran = driver.finish();
  if (GetParam() == SIGINT) {
    EXPECT_EQ(ran.code, 130) << ran.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, PreloadEnds, testing::Values(SIGINT, SIGKILL));

}  // namespace
}  // namespace jitrace::test
