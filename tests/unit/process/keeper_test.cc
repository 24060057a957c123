// Tools that the driver runs for itself: bounded, and gone with all they started.

#include "process/keeper.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "process/proc.h"

namespace jitrace {
namespace {

Command shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  return command;
}

Keeper keeper(Nanoseconds limit = seconds(60), int interrupt = -1) { return {JITRACE_LIBEXEC "/guard", limit, interrupt}; }

TEST(Keeper, GivesStatusAndBothOutputs) {
  const auto finished = run_kept(keeper(), shell("echo out; echo err >&2; exit 9"));
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_TRUE(finished->status.is_exit(9)) << finished->status.describe();
  EXPECT_EQ(finished->output, "out\nerr\n");
}

TEST(Keeper, WithoutAGuardItIsAPlainChild) {
  const auto finished = run_kept({}, shell("echo out"));
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->output, "out\n");
}

TEST(Keeper, UsesEnvironmentAndDirectory) {
  Command command = shell("pwd; echo $WORD");
  command.directory = "/usr";
  command.environment = environment_with({"WORD=jit"});
  const auto finished = run_kept(keeper(), command);
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->output, "/usr\njit\n");
}

TEST(Keeper, CutsALongOutput) {
  const auto finished = run_kept(keeper(), shell("head -c 3000000 /dev/zero"));
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->output.size(), std::size_t{1} << 20);
}

TEST(Keeper, AMissingProgramIsAnError) {
  Command command;
  command.argv = {"/nowhere/tool"};
  const auto finished = run_kept(keeper(), command);
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message().find("/nowhere/tool"), std::string::npos) << finished.error().message();
}

TEST(Keeper, WhatTakesTooLongIsEndedWithItsChildren) {
  const std::string marker = "JITRACE_KEEPER_TEST=" + std::to_string(::getpid());
  Command command = shell("sleep 1000 & sleep 1000");
  command.environment = environment_with({marker});
  const auto finished = run_kept(keeper(milliseconds(200)), command);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ETIMEDOUT);
  EXPECT_NE(finished.error().message().find("200 ms"), std::string::npos) << finished.error().message();
  EXPECT_TRUE(find_by_environment(marker).empty());
}

TEST(Keeper, NothingThatAToolLeavesOutlivesIt) {
  const std::string marker = "JITRACE_KEEPER_TEST=left" + std::to_string(::getpid());
  Command command = shell("sleep 1000 & echo done");
  command.environment = environment_with({marker});
  const auto finished = run_kept(keeper(), command);
  ASSERT_TRUE(finished) << finished.error().message();
  EXPECT_EQ(finished->output, "done\n");
  EXPECT_TRUE(find_by_environment(marker).empty());
}

TEST(Keeper, TemporaryFilesOfItsOwnGoWithIt) {
  Keeper own = keeper();
  own.temp_files = Keeper::TempFiles::own;
  const auto finished = run_kept(own, shell("echo x > $TMPDIR/left; echo $TMPDIR"));
  ASSERT_TRUE(finished) << finished.error().message();
  const std::string directory = finished->output.substr(0, finished->output.find('\n'));
  EXPECT_NE(directory.find("jitrace-tool-"), std::string::npos) << directory;
  EXPECT_FALSE(exists(directory));
}

TEST(Keeper, AnInterruptGivesItUp) {
  const Fd interrupt(::eventfd(1, EFD_CLOEXEC));
  const auto finished = run_kept(keeper(seconds(60), interrupt.get()), shell("sleep 1000"));
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ECANCELED);
}

}  // namespace
}  // namespace jitrace
