#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/text.h"
#include "compile_trial.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

class Cxx : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<Toolchain> toolchain = find_toolchain(ToolchainKind::cxx);
    if (!toolchain) GTEST_SKIP() << "no g++";
    trial_.emplace(*toolchain);
    source_ = trial_->at("axpy.cu");
    object_ = trial_->at("axpy.o");
    library_ = trial_->at("axpy.so");
    ASSERT_TRUE(write_file(source_, real_kernel("axpy").source));
  }
  std::vector<std::string> whole() {
    return compile_command(trial_->toolchain(), trial_->compiler(), "host", source_, library_, ArtifactKind::shared_object);
  }
  std::vector<std::string> object() {
    return object_command(trial_->toolchain(), trial_->compiler(), "host", source_, object_);
  }
  std::vector<std::string> link() { return link_command(trial_->toolchain(), trial_->compiler(), object_, library_); }

  std::optional<CompileTrial> trial_;
  std::string source_, object_, library_;
};

TEST_F(Cxx, ArtifactsOfTwoAttemptsDifferInTheStampAlone) {
  ASSERT_TRUE(trial_->run(whole(), 0x11).status.is_exit(0));
  const ArtifactView one = view_artifact(*read_file(library_));
  ASSERT_TRUE(make_dirs(trial_->at("another/directory")));
  source_ = trial_->at("another/directory/renamed.cu");
  library_ = trial_->at("another/directory/lib.so");
  ASSERT_TRUE(write_file(source_, real_kernel("axpy").source));
  ASSERT_TRUE(trial_->run(whole(), 0x22).status.is_exit(0));
  const ArtifactView two = view_artifact(*read_file(library_));
  EXPECT_EQ(one.attempt, 0x11U);
  EXPECT_EQ(two.attempt, 0x22U);
  EXPECT_EQ(one.masked_digest, two.masked_digest);
  const Result<std::uint64_t> reference = reference_digest(trial_->toolchain(), real_kernel("axpy"), "host",
                                                           ArtifactKind::shared_object, Steps::one, trial_->at("ref"));
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_EQ(*reference, one.masked_digest);
}

TEST_F(Cxx, TwoStepsMakeTheirOwnReference) {
  ASSERT_TRUE(trial_->run(object(), 0x11).status.is_exit(0));
  ASSERT_TRUE(trial_->run(link(), 0x11).status.is_exit(0));
  const ArtifactView view = view_artifact(*read_file(library_));
  EXPECT_EQ(view.attempt, 0x11U);
  const Result<std::uint64_t> reference = reference_digest(trial_->toolchain(), real_kernel("axpy"), "host",
                                                           ArtifactKind::shared_object, Steps::two, trial_->at("ref"));
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_EQ(*reference, view.masked_digest);
}

TEST_F(Cxx, AnnouncesEachPointOnce) {
  ASSERT_TRUE(trial_->run(whole()).status.is_exit(0));
  EXPECT_EQ(trial_->count(EventKind::reached, Point::compile), 1);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::output), 1);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::link), 0) << "one command from source to shared object";
  ASSERT_TRUE(trial_->run(object()).status.is_exit(0));
  EXPECT_EQ(trial_->count(EventKind::reached, Point::compile), 2);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::output), 2);
  ASSERT_TRUE(trial_->run(link()).status.is_exit(0));
  EXPECT_EQ(trial_->count(EventKind::reached, Point::compile), 2);
  EXPECT_EQ(trial_->count(EventKind::reached, Point::link), 1);
}

TEST_F(Cxx, AssemblerTruncatesTheSameInode) {
  ASSERT_TRUE(trial_->run(object()).status.is_exit(0));
  const ino_t inode = inode_of(object_);
  const std::uint64_t size = size_of(object_);
  trial_->board().arm(Point::output);
  Process driver = trial_->start(object());
  const Event stage = trial_->wait_at(Point::output);
  EXPECT_EQ(inode_of(object_), inode);
  EXPECT_EQ(size_of(object_), size / 2);
  kill_pid(stage.pid);
  EXPECT_TRUE(driver.wait()->is_exit(1)) << "g++ says that `as` was killed";
  EXPECT_THAT(trial_->said(), HasSubstr("Killed"));
}

TEST_F(Cxx, LinkerUnlinksWritesAndSetsTheModeLast) {
  ASSERT_TRUE(trial_->run(object()).status.is_exit(0));
  ASSERT_TRUE(trial_->run(link()).status.is_exit(0));
  ASSERT_EQ(::link(library_.c_str(), trial_->at("old.so").c_str()), 0);
  const ino_t inode = inode_of(library_);
  const std::uint64_t size = size_of(library_);
  trial_->board().arm(Point::link);
  Process driver = trial_->start(link());
  const Event stage = trial_->wait_at(Point::link);
  EXPECT_NE(inode_of(library_), inode);
  EXPECT_EQ(size_of(library_), size / 2);
  EXPECT_EQ(::access(library_.c_str(), X_OK) == 0, false);
  EXPECT_EQ(size_of(trial_->at("old.so")), size) << "who mapped the old file keeps it";
  // The compiler dies; its linker goes on as an orphan and finishes.
  ASSERT_TRUE(driver.signal(SIGKILL));
  trial_->board().order(stage.slot, Order::go);
  trial_->wait_end(stage.slot);
  EXPECT_EQ(size_of(library_), size);
  EXPECT_EQ(::access(library_.c_str(), X_OK), 0);
}

TEST_F(Cxx, CompileIsAfterTheSourceIsReadAndBeforeTheOutputIsOpened) {
  trial_->board().arm(Point::compile);
  Process driver = trial_->start(object());
  const Event stage = trial_->wait_at(Point::compile);
  EXPECT_FALSE(exists(object_));
  ASSERT_TRUE(write_file(source_, "#error read too late\n"));
  trial_->board().order(stage.slot, Order::go);
  EXPECT_TRUE(driver.wait()->is_exit(0)) << trial_->said();
}

TEST_F(Cxx, WithoutABoardTheShadowIsTheCompiler) {
  Command command;
  command.argv = whole();
  auto changes = *attempt_environment(trial_->toolchain(), {0x33, 0, trial_->at("scratch")}, trial_->at("shadow"));
  command.environment = environment_with(changes);
  const Result<Finished> finished = run_to_end(command);
  ASSERT_TRUE(finished && finished->status.is_exit(0)) << finished->output;
  EXPECT_EQ(view_artifact(*read_file(library_)).attempt, 0x33U);
  EXPECT_TRUE(trial_->events().empty());
}

TEST_F(Cxx, AFailedCompileLeavesNoOutputAndKeepsItsWords) {
  ASSERT_TRUE(write_file(source_, "int broken(\n"));
  const Finished finished = trial_->run(whole());
  EXPECT_TRUE(finished.status.is_exit(1));
  EXPECT_THAT(finished.output, HasSubstr("error:"));
  EXPECT_FALSE(exists(library_));
  ASSERT_TRUE(remove_file(source_));
  EXPECT_THAT(trial_->run(whole()).output, HasSubstr("fatal error: " + source_ + ": No such file or directory"));
}

}  // namespace
}  // namespace jitrace
