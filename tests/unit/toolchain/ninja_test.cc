// M6, M7 and M11 of what was measured: what is left when the builder above a real ninja dies in mid-compile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "base/text.h"
#include "compile_trial.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Ninja : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<Toolchain> toolchain = find_toolchain(ToolchainKind::cxx);
    if (!toolchain) GTEST_SKIP() << "no g++";
    Command version;
    version.argv = {"ninja", "--version"};
    if (!run_to_end(version)) GTEST_SKIP() << "no ninja";
    trial_.emplace(*toolchain);
    ASSERT_TRUE(write_file(trial_->at("axpy.cu"), real_kernel("axpy").source));
    const auto compile = object_command(*toolchain, trial_->compiler(), "host", "$in", "$out");
    const auto link = link_command(*toolchain, trial_->compiler(), "$in", "$out");
    ASSERT_TRUE(write_file(trial_->at("build.ninja"), "rule compile\n  command = " + join_text(compile, " ") +
                                                          "\nrule link\n  command = " + join_text(link, " ") +
                                                          "\nbuild axpy.o: compile axpy.cu\nbuild axpy.so: link axpy.o\n"));
  }
  std::vector<std::string> argv() const { return {"ninja", "-v", "-C", trial_->at("")}; }
  std::string log() const {
    const Result<std::string> text = read_file(trial_->at(".ninja_log"));
    return text ? *text : "";
  }
  std::optional<CompileTrial> trial_;
};

TEST_F(Ninja, WithItsStatusPipeClosedItDiesAndTheObjectHasNoLogEntry) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  trial_->board().arm(Point::output);
  Command command;
  command.argv = argv();
  command.environment = trial_->environment(0x11);
  command.out = writing.get();
  command.err = writing.get();
  Result<Process> ninja = Process::spawn(command);
  ASSERT_TRUE(ninja);
  writing.close();
  const Event stage = trial_->wait_at(Point::output);
  EXPECT_NE(::getpgid(static_cast<pid_t>(stage.pid)), ::getpgid(ninja->pid())) << "ninja gives every command a group";
  reading.close();  // the builder is dead: nobody reads any more
  trial_->board().order(stage.slot, Order::go);
  EXPECT_TRUE(ninja->wait()->is_kill(SIGPIPE));
  trial_->wait_end(stage.slot);
  EXPECT_GT(size_of(trial_->at("axpy.o")), 0U);
  EXPECT_THAT(log(), Not(HasSubstr("axpy.o"))) << "so the next ninja compiles again";
  EXPECT_FALSE(exists(trial_->at("axpy.so")));
}

TEST_F(Ninja, WithItsOutputElsewhereItFinishesTheWholeBuild) {
  trial_->board().arm(Point::output);
  Process ninja = trial_->start(argv());
  const Event stage = trial_->wait_at(Point::output);
  trial_->board().order(stage.slot, Order::go);
  EXPECT_TRUE(ninja.wait()->is_exit(0)) << trial_->said();
  EXPECT_THAT(log(), HasSubstr("axpy.so"));
}

TEST_F(Ninja, KilledItLeavesItsCompilerRunning) {
  trial_->board().arm(Point::output);
  Process ninja = trial_->start(argv());
  const Event stage = trial_->wait_at(Point::output);
  ASSERT_TRUE(ninja.signal(SIGKILL));
  EXPECT_TRUE(ninja.wait()->is_kill(SIGKILL));
  const std::optional<ProcStat> orphan = proc_stat(static_cast<pid_t>(stage.pid));
  ASSERT_TRUE(orphan);
  EXPECT_NE(orphan->state, 'Z');
  trial_->board().order(stage.slot, Order::go);
  trial_->wait_end(stage.slot);
  EXPECT_GT(size_of(trial_->at("axpy.o")), 0U);
}

TEST_F(Ninja, TrustsATornSharedObject) {
  ASSERT_TRUE(trial_->run(argv()).status.is_exit(0));
  const std::string library = trial_->at("axpy.so");
  const Result<std::string> whole = read_file(library);
  ASSERT_TRUE(whole);
  ASSERT_TRUE(write_file(library, whole->substr(0, whole->size() / 2)));
  const Finished again = trial_->run(argv());
  EXPECT_THAT(again.output, HasSubstr("no work to do"));
  EXPECT_EQ(size_of(library), whole->size() / 2);
}

}  // namespace
}  // namespace jitrace
