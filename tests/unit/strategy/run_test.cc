#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "process/proc.h"
#include "strategy/run/run.h"
#include "unit/strategy/recorder.h"

namespace jitrace {
namespace {

using testing::HasSubstr;

class RunTest : public testing::Test {
 protected:
  Build build() {
    Build b;
    b.attempt = 0xabcdef;
    b.scratch = bench_.job.scratch + "/a";
    b.source = bench_.job.root + "/k0.cu";
    b.output = bench_.job.root + "/out.cubin";
    EXPECT_TRUE(write_file(b.source, bench_.job.keys[0].source));
    return b;
  }

  Bench bench_;
  Recorder recorder_;
  Files files_{recorder_, bench_.job.root};
};

// M12: WEXITSTATUS of a shell that died of a signal is 0.
TEST_F(RunTest, KilledShellReadsAsSuccessExactlyWhereDeepgemmReadItSo) {
  bench_.job.fake_duration = milliseconds(2000);
  for (const StatusReading reading : {StatusReading::exit_code_only, StatusReading::whole}) {
    Build b = build();
    b.status = reading;
    b.started = [](pid_t shell) {
      const Result<Fd> pidfd = open_pidfd(shell);
      ASSERT_TRUE(pidfd);
      // The shell, once its compiler runs: a kill any earlier would leave nothing to wait for.
      while (proc_children(shell).empty()) {
      }
      ASSERT_TRUE(send_signal(*pidfd, SIGKILL));
    };
    const Result<BuildEnd> end = run_popen(b, files_, bench_.job);
    ASSERT_TRUE(end);
    EXPECT_TRUE(WIFSIGNALED(end->raw_status));
    EXPECT_EQ(end->ok, reading == StatusReading::exit_code_only);
  }
}

TEST_F(RunTest, CompilerKilledBelowTheShellIsAFailureForBoth) {
  bench_.job.keys[0].source = "#pragma jitrace_hang\n";
  for (const StatusReading reading : {StatusReading::exit_code_only, StatusReading::whole}) {
    Build b = build();
    b.status = reading;
    b.started = [](pid_t shell) {
      std::vector<pid_t> all;
      while ((all = proc_descendants(shell)).size() < 3) {  // compiler, its shell, the stage
      }
      for (const pid_t pid : all) ::kill(pid, SIGKILL);
    };
    const Result<BuildEnd> end = run_popen(b, files_, bench_.job);
    ASSERT_TRUE(end);
    EXPECT_TRUE(WIFEXITED(end->raw_status));
    EXPECT_EQ(WEXITSTATUS(end->raw_status), 137);
    EXPECT_FALSE(end->ok);
  }
}

TEST_F(RunTest, ExecSeesTheCompilersOwnEnd) {
  Build b = build();
  const Result<BuildEnd> good = run_exec(b, files_, bench_.job);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->ok);
  b.source += ".absent";
  const Result<BuildEnd> bad = run_exec(b, files_, bench_.job);
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->ok);
  EXPECT_THAT(bad->output, HasSubstr("No such file or directory"));
}

TEST_F(RunTest, CompilerThatIsNotThereIsAnError) {
  bench_.job.compiler = bench_.job.root + "/nowhere/nvcc";
  EXPECT_FALSE(run_exec(build(), files_, bench_.job));
  const Result<BuildEnd> shell = run_popen(build(), files_, bench_.job);
  ASSERT_TRUE(shell) << "the shell starts, and says it";
  EXPECT_THAT(shell->output, HasSubstr("not found"));
}

TEST_F(RunTest, NinjaCopesWithSpacesAndDollarsAndKnowsWhenThereIsNothingToDo) {
  Bench bench;
  bench.job.root += " $odd:'name";
  ASSERT_TRUE(make_dirs(bench.job.root));
  const Preset& preset = *find_preset("torch-baton");
  EXPECT_EQ(Engine(preset, bench.job, recorder_).get(0).outcome, Outcome::built);
  const GetEnd second = Engine(preset, bench.job, recorder_).get(0);
  EXPECT_EQ(second.outcome, Outcome::served) << second.message;
  ASSERT_FALSE(recorder_.events.empty());
  int idle = 0;
  for (const Event& event : recorder_.events) idle += event.kind == EventKind::attempt_end && event.b == 1 ? 1 : 0;
  EXPECT_EQ(idle, 1);
}

}  // namespace
}  // namespace jitrace
