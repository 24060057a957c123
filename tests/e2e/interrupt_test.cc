// ^C and SIGTERM: what was measured until then is in a partial report, and nothing stays.

#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

class Interrupted : public E2eTest {
 protected:
  // One cell is soon done; the other, whose waiters wait for a lock that nobody gives back, never.
  std::string endless() const {
    return scenario("[scenario]\nname = \"endless\"\n[workload]\ntoolchains = [\"fake\"]\nworkers = 4\nfake_ms = 50\nwatchdog_s = 60\n"
                    "[[subject]]\npreset = \"torch-flock\"\n"
                    "[[fault]]\nname = \"none\"\ntrials = 1\n"
                    "[[fault]]\nname = \"kill\"\nwho = \"builder\"\nat = \"compile\"\nwhat = \"SIGKILL\"\ntrials = 100000\n");
  }

  void interrupt(int number, int code) {
    Driver driver = start({"run", endless(), "--out", out(), "--cache", cache(), "--jobs", "2"});
    ASSERT_TRUE(driver.wait_for_error("/none/fake/sm_90a: served 1 of 1"));
    // As a terminal does: the whole foreground group gets it.
    ASSERT_EQ(::kill(-driver.process().pid(), number), 0);
    const Ran ran = driver.finish();
    EXPECT_EQ(ran.code, code) << ran.err << ran.out;
    expect_nothing_left();
    const nlohmann::json report = read_report(out());
    EXPECT_EQ(report["interrupted"], true);
    EXPECT_EQ(cell_of(report, "torch-flock/none/")["trials"], 1);
    EXPECT_LT(cell_of(report, "torch-flock/kill/").value("trials", 0), 100000);
    EXPECT_NE(ran.out.find("torch-flock"), std::string::npos) << ran.out;
    // No half trial lies about.
    for (const std::string& name : list_tree(out())) EXPECT_FALSE(name.starts_with("trial-") || name.starts_with("toolkit-")) << name;
    const auto before = read_file(out() + "/report.json");
    (void)run({"report", out()});
    EXPECT_EQ(*read_file(out() + "/report.json"), *before);
  }
};

TEST_F(Interrupted, SigintIs130) { interrupt(SIGINT, 130); }
TEST_F(Interrupted, SigtermIs143) { interrupt(SIGTERM, 143); }

TEST_F(Interrupted, ReplayToo) {
  const Ran made = run({"run", smoke, "--out", out(), "--trials", "1", "--strategy", "torch-baton"});
  ASSERT_EQ(made.code, 0) << made.err;
  Driver driver = start({"replay", out() + "/cells/torch-baton+kill-compile+fake+sm_90a/trial-1.plan", "--trials", "100000", "--out",
                         at("again"), "--cache", cache()});
  ASSERT_TRUE(driver.wait_for_file(at("again/cells/torch-baton+kill-compile+fake+sm_90a/trial-1.history")));
  ASSERT_EQ(::kill(-driver.process().pid(), SIGINT), 0);
  const Ran ran = driver.finish();
  EXPECT_EQ(ran.code, 130) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("replayed"), std::string::npos) << ran.out;
}

// An nvcc that never ends and leaves a child of its own: the driver waits for its reference compile.
class InterruptedReference : public Interrupted {
 protected:
  void strike(int number, int code) {
    put("toolkit/nvvm/bin/cicc", "#!/bin/sh\nexit 0\n", 0755);
    put("toolkit/bin/ptxas", "#!/bin/sh\nexit 0\n", 0755);
    const std::string nvcc = put("toolkit/bin/nvcc",
                                 "#!/bin/sh\ncase \"$*\" in\n*--version*) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0;;\n"
                                 "*--dryrun*) exit 0;;\nesac\necho > " + at("begun") + "\nsleep 1000 &\nsleep 1000\n", 0755);
    Command command;
    command.argv = {"g++", "-dumpversion"};
    if (!run_to_end(command)) GTEST_SKIP() << "no g++: a toolkit's shadow needs one";
    Driver driver = start({"run", smoke, "--toolchain", "nvcc", "--nvcc", nvcc, "--out", out(), "--cache", cache()});
    ASSERT_TRUE(driver.wait_for_file(at("begun")));
    ASSERT_EQ(::kill(driver.process().pid(), number), 0);
    const Ran ran = driver.finish();
    EXPECT_EQ(ran.code, code) << ran.err << ran.out;
  }
};

TEST_F(InterruptedReference, SigintIs130) {
  strike(SIGINT, 130);
  if (IsSkipped()) return;
  EXPECT_EQ(read_report(out())["interrupted"], true);
}

// That nothing of it stays is held after every test.
TEST_F(InterruptedReference, SigkillLeavesNothing) { strike(SIGKILL, 128 + SIGKILL); }

}  // namespace
}  // namespace jitrace::test
