// The installed tree works by itself, and runs on the C library of Debian 12 and of what is older.

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

class Installed : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    Command command;
    command.argv = {JITRACE_CMAKE, "--install", JITRACE_BINARY_DIR, "--prefix", at("prefix")};
    const auto installed = run_to_end(command);
    ASSERT_TRUE(installed) << installed.error().message();
    ASSERT_TRUE(installed->status.is_exit(0)) << installed->output;
    program_ = at("prefix/bin/jitrace");
  }
};

TEST_F(Installed, RunsSmokeFromItsOwnTree) {
  const Ran ran = run({"run", at("prefix/share/jitrace/scenarios/smoke.toml"), "--out", out(), "--cache", cache(), "--trials", "1"});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_EQ(read_report(out())["verdict"], "pass");
  // Whatever lies elsewhere, it used its own.
  EXPECT_NE(read_file(out() + "/run")->find("prefix"), std::string::npos);
}

TEST_F(Installed, FindsKernelsForAScenarioThatLiesElsewhere) {
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  const Ran list = run({"list"});
  EXPECT_NE(list.out.find("repro/msa-23.toml"), std::string::npos) << list.out;
}

TEST_F(Installed, NeedsNothingNewerThanGlibc234) {
  if (std::string(JITRACE_SANITIZED) != "") GTEST_SKIP() << "a sanitizer's run time is no part of a release";
  std::vector<std::string> programs = {program_};
  const auto helpers = list_dir(at("prefix/libexec/jitrace"));
  ASSERT_TRUE(helpers) << helpers.error().message();
  for (const std::string& name : *helpers) programs.push_back(at("prefix/libexec/jitrace/" + name));
  EXPECT_EQ(programs.size(), 12u)
      << "jitrace, worker, get, guard, daemon, fake_compiler, stage_shim, lane, traced, tape, zygote, zygote.py";
  for (const std::string& program : programs) {
    Command command;
    command.argv = {"objdump", "-T", "-p", program};
    const auto dump = run_to_end(command);
    if (!dump) GTEST_SKIP() << "no objdump here";
    for (const std::string& line : split(dump->output, '\n')) {
      // "... DF *UND* ... (GLIBC_2.34) name"; a static program has no such line at all.
      const std::size_t found = line.find("GLIBC_2.");
      if (found != std::string::npos) {
        const auto minor = parse_int(line.substr(found + 8, line.find_first_not_of("0123456789", found + 8) - found - 8));
        EXPECT_LE(minor.value_or(0), 34) << program << ": " << line;
      }
      EXPECT_EQ(line.find("GLIBCXX"), std::string::npos) << program << " needs the system's libstdc++: " << line;
      // Found at run time or not at all: NEEDED libcuda would keep it from starting where there is no driver.
      EXPECT_EQ(line.find("libcuda"), std::string::npos) << line;
      EXPECT_EQ(line.find("libnvrtc"), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace jitrace::test
