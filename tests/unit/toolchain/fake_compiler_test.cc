#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compile_trial.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

class FakeCompiler : public ::testing::Test {
 protected:
  FakeCompiler() : trial_(*find_toolchain(ToolchainKind::fake)) {
    EXPECT_TRUE(write_file(source_, "source of a kernel\n"));
  }
  std::vector<std::string> compile() {
    return compile_command(trial_.toolchain(), trial_.compiler(), "sm_90a", source_, output_, ArtifactKind::fake);
  }
  // Compiler, shell and stage of a compile that waits at `point`.
  struct Chain {
    Process driver;
    std::uint32_t shell;
    Event stage;
  };
  Chain hold_at(Point point, std::vector<std::string> argv) {
    trial_.board().arm(point);
    Process driver = trial_.start(std::move(argv));
    Event stage = trial_.wait_at(point);
    trial_.board().disarm(point);
    const std::optional<ProcStat> stat = proc_stat(static_cast<pid_t>(stage.pid));
    return {std::move(driver), static_cast<std::uint32_t>(stat ? stat->parent : 0), stage};
  }

  CompileTrial trial_;
  std::string source_ = trial_.at("kernel.cu");
  std::string output_ = trial_.at("kernel.cubin");
};

TEST_F(FakeCompiler, MakesAWholeStampedArtifactAndAnnouncesEachStep) {
  ASSERT_TRUE(trial_.run(compile(), 0x4711).status.is_exit(0));
  const ArtifactView view = view_artifact(*read_file(output_));
  EXPECT_TRUE(view.whole);
  EXPECT_EQ(view.attempt, 0x4711U);
  EXPECT_EQ(view.key, 5U);
  EXPECT_EQ(view.arch, "sm_90a");
  std::vector<std::string> steps;
  for (const Event& event : trial_.events()) {
    std::string step(name_of(event.kind));
    if (event.kind == EventKind::tool_begin) step += " " + std::string(name_of(static_cast<ToolRole>(event.a)));
    if (event.kind == EventKind::reached) step += " " + std::string(name_of(event.point));
    if (event.kind == EventKind::tool_output) step += " " + std::to_string(event.a);
    steps.push_back(step);
    EXPECT_EQ(event.attempt, 0x4711U);
  }
  EXPECT_THAT(steps, ::testing::ElementsAre("tool_begin compiler", "tool_begin stage", "reached compile", "tool_output 1",
                                            "tool_output 2", "reached output", "tool_output 3", "tool_end", "tool_end"));
}

TEST_F(FakeCompiler, IsDriverShellAndStage) {
  Chain chain = hold_at(Point::compile, compile());
  EXPECT_NE(chain.shell, static_cast<std::uint32_t>(chain.driver.pid()));
  EXPECT_EQ(proc_stat(static_cast<pid_t>(chain.shell))->parent, chain.driver.pid());
  EXPECT_THAT(proc_arguments(static_cast<pid_t>(chain.shell)), HasSubstr("sh -c"));
  EXPECT_FALSE(exists(output_)) << "the output is opened late";
  trial_.board().order(chain.stage.slot, Order::go);
  EXPECT_TRUE(chain.driver.wait()->is_exit(0));
}

TEST_F(FakeCompiler, KilledDriverLeavesAnOrphanThatFinishesTheOutput) {
  for (const Point point : {Point::compile, Point::output}) {
    ASSERT_TRUE(remove_file(output_));
    Chain chain = hold_at(point, compile());
    ASSERT_TRUE(chain.driver.signal(SIGKILL));
    EXPECT_TRUE(chain.driver.wait()->is_kill(SIGKILL));
    EXPECT_EQ(exists(output_), point == Point::output);
    trial_.board().order(chain.stage.slot, Order::go);
    trial_.wait_end(chain.stage.slot);
    EXPECT_TRUE(view_artifact(*read_file(output_)).whole);
  }
}

TEST_F(FakeCompiler, KilledStageIsExit137WithNoOutputOrHalfOfIt) {
  Chain early = hold_at(Point::compile, compile());
  kill_pid(early.stage.pid);
  EXPECT_TRUE(early.driver.wait()->is_exit(137));
  EXPECT_FALSE(exists(output_));

  Chain late = hold_at(Point::output, compile());
  kill_pid(late.stage.pid);
  EXPECT_TRUE(late.driver.wait()->is_exit(137));
  const ArtifactView torn = view_artifact(*read_file(output_));
  EXPECT_TRUE(torn.fake);
  EXPECT_FALSE(torn.whole);
}

TEST_F(FakeCompiler, KilledShellIsReportedWhileTheStageGoesOn) {
  Chain chain = hold_at(Point::output, compile());
  kill_pid(chain.shell);
  EXPECT_TRUE(chain.driver.wait()->is_exit(137));
  EXPECT_THAT(trial_.said(), HasSubstr("died due to signal 9"));
  trial_.board().order(chain.stage.slot, Order::go);
  trial_.wait_end(chain.stage.slot);
  EXPECT_TRUE(view_artifact(*read_file(output_)).whole);
}

TEST_F(FakeCompiler, TheDriversOrderToExitIsObeyed) {
  Chain chain = hold_at(Point::compile, compile());
  trial_.board().order(chain.stage.slot, Order::exit_137);
  EXPECT_TRUE(chain.driver.wait()->is_exit(137));
  EXPECT_FALSE(exists(output_));
}

TEST_F(FakeCompiler, WritesAnObjectIntoTheSameInodeAndLinksIntoANewOne) {
  const std::string object = trial_.at("kernel.o");
  const std::string library = trial_.at("kernel.so");
  const auto object_argv = object_command(trial_.toolchain(), trial_.compiler(), "sm_90a", source_, object);
  const auto link_argv = link_command(trial_.toolchain(), trial_.compiler(), object, library);
  ASSERT_TRUE(trial_.run(object_argv).status.is_exit(0));
  ASSERT_TRUE(trial_.run(link_argv).status.is_exit(0));
  EXPECT_TRUE(view_artifact(*read_file(library)).whole);
  const ino_t object_inode = inode_of(object);
  // A second name keeps the first inode alive, so that its number cannot be used again.
  ASSERT_EQ(::link(library.c_str(), trial_.at("old.so").c_str()), 0);
  const ino_t library_inode = inode_of(library);
  ASSERT_TRUE(trial_.run(object_argv).status.is_exit(0));
  Chain chain = hold_at(Point::link, link_argv);
  EXPECT_EQ(inode_of(object), object_inode);
  EXPECT_NE(inode_of(library), library_inode);
  EXPECT_FALSE(view_artifact(*read_file(library)).whole);
  EXPECT_TRUE(view_artifact(*read_file(trial_.at("old.so"))).whole);
  trial_.board().order(chain.stage.slot, Order::go);
  EXPECT_TRUE(chain.driver.wait()->is_exit(0));
  EXPECT_TRUE(view_artifact(*read_file(library)).whole);
}

TEST_F(FakeCompiler, SaysWhatGccSaysOfAMissingSource) {
  ASSERT_TRUE(remove_file(source_));
  const Finished finished = trial_.run(compile());
  EXPECT_TRUE(finished.status.is_exit(1));
  EXPECT_THAT(finished.output, HasSubstr("cc1plus: fatal error: " + source_ + ": No such file or directory"));
  EXPECT_THAT(finished.output, HasSubstr("compilation terminated."));
  EXPECT_FALSE(exists(output_));
}

TEST_F(FakeCompiler, FailsOnAnErrorDirective) {
  ASSERT_TRUE(write_file(source_, "first\n#error not on this machine\n"));
  const Finished finished = trial_.run(compile());
  EXPECT_TRUE(finished.status.is_exit(1));
  EXPECT_THAT(finished.output, HasSubstr(":2:2: error: #error not on this machine"));
}

TEST_F(FakeCompiler, HangsWhenToldTo) {
  ASSERT_TRUE(write_file(source_, "#pragma jitrace_hang\n"));
  Process driver = trial_.start(compile());
  const Event stage = trial_.wait_for(
      [](const Event& e) { return e.kind == EventKind::reached && e.point == Point::compile; }, "compile");
  ::poll(nullptr, 0, 50);
  EXPECT_FALSE(driver.poll()->has_value());
  const std::optional<ProcStat> hung = proc_stat(static_cast<pid_t>(stage.pid));
  ASSERT_TRUE(hung);
  EXPECT_LE(hung->cpu_ticks, 2U) << "it waits, it does not spin";
  EXPECT_FALSE(exists(output_));
  kill_pid(stage.pid);
  EXPECT_TRUE(driver.wait()->is_exit(137));
}

TEST_F(FakeCompiler, RefusesToLinkATornObject) {
  const std::string object = trial_.at("kernel.o");
  ASSERT_TRUE(write_file(object, "JTRFAKE1 cut"));
  const Finished finished = trial_.run(link_command(trial_.toolchain(), trial_.compiler(), object, output_));
  EXPECT_TRUE(finished.status.is_exit(1));
  EXPECT_THAT(finished.output, HasSubstr("file format not recognized"));
}

TEST_F(FakeCompiler, TheReferenceIsWhatAnyAttemptMakes) {
  const Kernel kernel{"axpy", "source of a kernel\n"};
  ASSERT_TRUE(trial_.run(compile(), 0x99).status.is_exit(0));
  const Result<std::uint64_t> one =
      reference_digest(trial_.toolchain(), kernel, "sm_90a", ArtifactKind::fake, Steps::one, trial_.at("reference"));
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(*one, view_artifact(*read_file(output_)).masked_digest);
  EXPECT_FALSE(reference_digest(trial_.toolchain(), {"bad", "#error no\n"}, "sm_90a", ArtifactKind::fake, Steps::one,
                                trial_.at("reference")));
}

}  // namespace
}  // namespace jitrace
