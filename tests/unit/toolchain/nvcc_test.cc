// M1 to M4 of what was measured on real compilers, through the shims: what a kill at each gate leaves on disk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compile_trial.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

class Nvcc : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<Toolchain> toolchain = find_toolchain(ToolchainKind::nvcc);
    if (!toolchain) GTEST_SKIP() << "no nvcc";
    trial_.emplace(*toolchain);
    source_ = trial_->at("kernel.cu");
    output_ = trial_->at("kernel.cubin");
    ASSERT_TRUE(write_file(source_, real_kernel("axpy").source));
  }
  std::vector<std::string> cubin() {
    return compile_command(trial_->toolchain(), trial_->compiler(), "sm_90a", source_, output_, ArtifactKind::cubin);
  }
  struct Held {
    Process driver;
    Event stage;
  };
  Held hold_at(Point point, std::vector<std::string> argv) {
    trial_->board().arm(point);
    Process driver = trial_->start(std::move(argv));
    Event stage = trial_->wait_at(point);
    trial_->board().disarm(point);
    return {std::move(driver), stage};
  }
  bool is_whole_cubin() {
    const Result<std::uint64_t> reference = reference_digest(trial_->toolchain(), real_kernel("axpy"), "sm_90a",
                                                             ArtifactKind::cubin, Steps::one, trial_->at("reference"));
    EXPECT_TRUE(reference);
    const Result<std::string> bytes = read_file(output_);
    return bytes && view_artifact(*bytes).masked_digest == *reference;
  }

  std::optional<CompileTrial> trial_;
  std::string source_, output_;
};

TEST_F(Nvcc, AnnouncesDriverStagesAndEachPointOnce) {
  const Finished finished = trial_->run(cubin(), 0x77);
  ASSERT_TRUE(finished.status.is_exit(0)) << finished.output;
  EXPECT_EQ(finished.output, "") << "a kernel compiles without a warning";
  EXPECT_EQ(view_artifact(*read_file(output_)).attempt, 0x77U);
  EXPECT_TRUE(is_whole_cubin());
  EXPECT_EQ(trial_->count(EventKind::reached, Point::compile), 1);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::output), 1);
  std::vector<std::string> tools;
  for (const Event& event : trial_->events()) {
    EXPECT_EQ(event.attempt, 0x77U);
    if (event.kind != EventKind::tool_begin) continue;
    EXPECT_GT(event.b, 0);
    const std::string program = event.text.substr(0, event.text.find(' '));
    tools.push_back(std::string(name_of(static_cast<ToolRole>(event.a))) + " " + base_of(program));
  }
  EXPECT_THAT(tools, ::testing::ElementsAre("compiler nvcc", "stage cc1plus", "stage cc1plus", "stage cicc", "stage ptxas"));
}

TEST_F(Nvcc, SourceIsReadBeforeCompileAndTheOutputOpenedLast) {
  Held held = hold_at(Point::compile, cubin());
  EXPECT_FALSE(exists(output_));
  ASSERT_TRUE(write_file(source_, "#error read too late\n"));
  trial_->board().order(held.stage.slot, Order::go);
  EXPECT_TRUE(held.driver.wait()->is_exit(0)) << trial_->said();
}

TEST_F(Nvcc, KilledInCompileItsStageEndsAsAnOrphanAndNoOutputAppears) {
  Held held = hold_at(Point::compile, cubin());
  ASSERT_TRUE(held.driver.signal(SIGKILL));
  EXPECT_TRUE(held.driver.wait()->is_kill(SIGKILL));
  trial_->board().order(held.stage.slot, Order::go);
  wait_gone(held.stage.pid);
  EXPECT_FALSE(exists(output_));
  const Result<std::vector<std::string>> left = list_dir(trial_->at("scratch"));
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, ::testing::Contains(HasSubstr("tmpxft_"))) << "intermediates leak on a kill";
}

TEST_F(Nvcc, KilledInOutputItsOrphanWritesTheWholeCubin) {
  Held held = hold_at(Point::output, cubin());
  ASSERT_TRUE(held.driver.signal(SIGKILL));
  EXPECT_TRUE(held.driver.wait()->is_kill(SIGKILL));
  EXPECT_FALSE(is_whole_cubin());
  trial_->board().order(held.stage.slot, Order::go);
  trial_->wait_end(held.stage.slot);
  EXPECT_TRUE(is_whole_cubin());
}

TEST_F(Nvcc, KilledPtxasIsExit137) {
  Held held = hold_at(Point::output, cubin());
  const std::uint64_t half = size_of(output_);
  kill_pid(held.stage.pid);
  EXPECT_TRUE(held.driver.wait()->is_exit(137)) << trial_->said();
  EXPECT_GT(half, 0U);
  EXPECT_EQ(size_of(output_), half);
  EXPECT_FALSE(is_whole_cubin());
}

TEST_F(Nvcc, KilledCiccIsExit137WithoutOutput) {
  Held held = hold_at(Point::compile, cubin());
  kill_pid(held.stage.pid);
  EXPECT_TRUE(held.driver.wait()->is_exit(137)) << trial_->said();
  EXPECT_FALSE(exists(output_));
}

TEST_F(Nvcc, TwoStepsWriteInPlaceThenLinkIntoANewFile) {
  const std::string object = trial_->at("kernel.o");
  const std::string library = trial_->at("kernel.so");
  const auto object_argv = object_command(trial_->toolchain(), trial_->compiler(), "sm_90a", source_, object);
  const auto link_argv = link_command(trial_->toolchain(), trial_->compiler(), object, library);
  Finished finished = trial_->run(object_argv, 0x21);
  ASSERT_TRUE(finished.status.is_exit(0)) << finished.output;
  EXPECT_EQ(trial_->count(EventKind::reached, Point::compile), 1);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::output), 1);
  finished = trial_->run(link_argv, 0x21);
  ASSERT_TRUE(finished.status.is_exit(0)) << finished.output;
  EXPECT_EQ(trial_->count(EventKind::reached, Point::link), 1);
  const ArtifactView view = view_artifact(*read_file(library));
  EXPECT_EQ(view.attempt, 0x21U);
  EXPECT_FALSE(view.mixed);
  const Result<std::uint64_t> reference = reference_digest(trial_->toolchain(), real_kernel("axpy"), "sm_90a",
                                                           ArtifactKind::shared_object, Steps::two, trial_->at("ref"));
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_EQ(view.masked_digest, *reference);

  const ino_t inode = inode_of(object);
  const std::uint64_t size = size_of(object);
  Held held = hold_at(Point::output, object_argv);
  EXPECT_EQ(inode_of(object), inode);
  EXPECT_EQ(size_of(object), size / 2);
  ASSERT_TRUE(held.driver.signal(SIGKILL));
  trial_->board().order(held.stage.slot, Order::go);
  trial_->wait_end(held.stage.slot);
  EXPECT_EQ(size_of(object), size) << "the orphan finished it";
}

TEST_F(Nvcc, CubinsOfTwoAttemptsDifferInTheStampAlone) {
  ASSERT_TRUE(trial_->run(cubin(), 0x1).status.is_exit(0));
  const ArtifactView one = view_artifact(*read_file(output_));
  ASSERT_TRUE(make_dirs(trial_->at("elsewhere")));
  source_ = trial_->at("elsewhere/renamed.cu");
  output_ = trial_->at("elsewhere/renamed.cubin");
  ASSERT_TRUE(write_file(source_, real_kernel("axpy").source));
  ASSERT_TRUE(trial_->run(cubin(), 0x2).status.is_exit(0));
  const ArtifactView two = view_artifact(*read_file(output_));
  EXPECT_EQ(one.attempt, 0x1U);
  EXPECT_EQ(two.attempt, 0x2U);
  EXPECT_EQ(one.masked_digest, two.masked_digest);
}

TEST_F(Nvcc, KeepsTheWordsOfAMissingSource) {
  ASSERT_TRUE(remove_file(source_));
  const Finished finished = trial_->run(cubin());
  EXPECT_FALSE(finished.status.is_exit(0));
  EXPECT_THAT(finished.output, HasSubstr("No such file or directory"));
  EXPECT_FALSE(exists(output_));
}

}  // namespace
}  // namespace jitrace
