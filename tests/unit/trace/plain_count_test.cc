#include "trace/plain_count.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/recording.h"
#include "plan/trace_plan.h"
#include "process/reaper.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

using Counts = std::map<std::string, std::size_t>;

const std::string traced = std::string(JITRACE_LIBEXEC) + "/traced";
std::string program(const std::string& name) { return std::string(JITRACE_BINARY_DIR) + "/tests/programs/" + name; }
std::string subject(const std::string& name) { return std::string(JITRACE_SOURCE_DIR) + "/scenarios/subjects/" + name; }

std::size_t sum(const Counts& counts) {
  std::size_t calls = 0;
  for (const auto& [what, times] : counts) calls += times;
  return calls;
}

// What a lane process makes of the command, on an empty cache.
History lane(TraceWork work, std::vector<std::string> argv, const std::string& starter = traced) {
  const TempDir dir = scratch();
  TracePlan plan;
  plan.work = work;
  plan.command = std::move(argv);
  plan.cache = join(dir.path(), "cache");
  EXPECT_TRUE(make_dirs(plan.cache));
  EXPECT_TRUE(make_dirs(join(dir.path(), "out")));
  EXPECT_TRUE(write_file(join(dir.path(), "plan"), plan.text()));
  Command command;
  command.argv = {std::string(JITRACE_LIBEXEC) + "/lane", join(dir.path(), "plan"), join(dir.path(), "history"),
                  starter, join(dir.path(), "out")};
  const Finished finished = run_to_end(command).value();
  EXPECT_TRUE(finished.status.is_exit(0)) << finished.status.describe() << finished.output;
  return History::parse(read_file(join(dir.path(), "history")).value()).value();
}

const Event& outcome_of(const History& history) {
  for (const Event& event : history.events) {
    if (event.kind == EventKind::outcome) return event;
  }
  static const Event none;
  ADD_FAILURE() << "no outcome";
  return none;
}

class Direct : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_dirs(cache)); }
  Result<PlainCount> count(std::vector<std::string> argv, Nanoseconds limit = seconds(60)) {
    const Fd out = open_fd(join(dir.path(), "output"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND).value();
    Command command;
    command.argv = std::move(argv);
    command.out = command.err = out.get();
    return plain_count(command, Scope::create(cache, {}).value(), limit);
  }
  std::string output() { return read_file(join(dir.path(), "output")).value(); }

  TempDir dir = scratch();
  std::string cache = join(dir.path(), "cache");
};

TEST_F(Direct, SixtyCallsAreSixty) {
  const PlainCount counted = count({program("static_builder"), cache}).value();
  EXPECT_EQ(counted.calls, 60u) << ::testing::PrintToString(counted.by_what);
  EXPECT_EQ(sum(counted.by_what), 60u);
  EXPECT_EQ(counted.by_what.at("rename work/artifact.tmp -> artifact.new"), 1u);
  EXPECT_EQ(counted.by_what.at("write work/artifact.tmp"), 8u);
  EXPECT_FALSE(counted.again.contains("write work/artifact.tmp"));
  ASSERT_TRUE(counted.end);
  EXPECT_TRUE(counted.end->is_exit(0)) << counted.end->describe();
  EXPECT_EQ(output(), "right\n");
}

TEST_F(Direct, LooksThatAreTakenAgainAreKnown) {
  const PlainCount counted =
      count({"/usr/bin/python3", "-ISc", "import os, sys\nfor i in range(3): os.path.exists(sys.argv[1] + '/lock')\n", cache}).value();
  EXPECT_EQ(counted.again, std::set<std::string>{"stat lock"});
}

TEST_F(Direct, WhatCannotStart) {
  const PlainCount counted = count({join(cache, "no_such_program")}).value();
  EXPECT_EQ(counted.calls, 0u);
  EXPECT_TRUE(counted.end && counted.end->is_exit(127));
  EXPECT_THAT(output(), ::testing::HasSubstr("no_such_program: No such file or directory"));
}

// The second flock is cut short by its process's end, the third by a stop that it outlives.
TEST_F(Direct, OnlyWhatReturnedCounts) {
  const std::string script =
      "exec 9> " + cache + "/lock; flock 9\n"
      "waits() { until grep -q \"^Name:.flock\" /proc/$1/status && grep -q \"^State:.S\" /proc/$1/status &&"
      " grep -q \"^73 \" /proc/$1/syscall; do :; done; }\n"
      "flock " + cache + "/lock true & waits $!; kill -KILL $!; wait $!\n"
      "flock " + cache + "/lock true & waits $!; kill -STOP $!\n"
      "until grep -q '^State:.[Tt]' /proc/$!/status; do :; done\n"
      "kill -CONT $!; waits $!; flock -u 9; wait $!\n";
  const PlainCount counted = count({"/bin/sh", "-c", script}).value();
  ASSERT_TRUE(counted.end && counted.end->is_exit(0)) << output();
  EXPECT_EQ(counted.by_what.at("flock lock LOCK_EX"), 2u) << ::testing::PrintToString(counted.by_what);
  EXPECT_EQ(counted.by_what.at("flock lock LOCK_UN"), 1u);
}

// The alarm's handler runs, and the flock is not made again.
TEST_F(Direct, ALockThatTimesOutCountsOnce) {
  const std::string script = "exec 9> $0/lock; flock 9; ! flock -w 0.2 $0/lock true";
  const PlainCount counted = count({"/bin/sh", "-c", script, cache}).value();
  ASSERT_TRUE(counted.end && counted.end->is_exit(0)) << output();
  EXPECT_EQ(counted.by_what.at("flock lock LOCK_EX"), 2u) << ::testing::PrintToString(counted.by_what);
}

TEST_F(Direct, ATreeThatDoesNotEndIsKilledWhole) {
  const std::string pids = join(dir.path(), "pids");
  const auto counted = count({"/bin/sh", "-c", "sleep 1000 & echo $$ $! > " + pids + "; wait"}, seconds(1) / 4);
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, ETIMEDOUT);
  const auto left = next_tracee_stop(Blocking::no);
  // Whoever is left has no tracer any more, and was told to die.
  EXPECT_TRUE(!left && left.error().code == ECHILD);
}

struct Compared {
  const char* name;
  std::vector<std::string> argv;
  Outcome outcome = Outcome::served;
};

class Agrees : public ::testing::TestWithParam<Compared> {};

TEST_P(Agrees, WithTheRecording) {
  const History recorded = lane(TraceWork::record, GetParam().argv);
  const History counted = lane(TraceWork::count, GetParam().argv);
  EXPECT_EQ(static_cast<Outcome>(outcome_of(recorded).a), GetParam().outcome) << outcome_of(recorded).text;
  EXPECT_EQ(outcome_of(counted).a, outcome_of(recorded).a) << outcome_of(counted).text;
  const Counts seen = counts_of(recording_of(recorded)), plain = counts_of(counted);
  EXPECT_GT(sum(plain), 2u);
  EXPECT_EQ(plain, seen);
  // Neither takes the other's history for its own.
  EXPECT_TRUE(recording_of(counted).calls.empty());
  EXPECT_TRUE(counts_of(recorded).empty());
}

INSTANTIATE_TEST_SUITE_P(
    PlainCount, Agrees,
    ::testing::Values(Compared{"static_builder", {program("static_builder"), "{cache}"}},
                      Compared{"vfork_exec", {program("vfork_exec"), "{cache}"}},
                      Compared{"double_daemon", {program("double_daemon"), "{cache}"}},
                      Compared{"thread_writer", {program("thread_writer"), "{cache}"}},
                      Compared{"scm_rights", {program("scm_rights"), "{cache}"}},
                      Compared{"directory_swap",
                               {"/bin/sh", "-c",
                                "cd $0; mkdir a ../b; ln -s a to; echo 1 > to/x; rm to; ln -s ../b to; echo 2 > to/y; "
                                "mv ../b c; echo 3 > c/z; mv c ../d; echo 4 > ../d/z",
                                "{cache}"}},
                      Compared{"nodes",
                               {"/usr/bin/python3", "-ISc",
                                "import os, socket, sys\nos.chdir(sys.argv[1])\nos.mkfifo('fifo')\n"
                                "server = socket.socket(socket.AF_UNIX)\nserver.bind('server.sock')\n"
                                "socket.socket(socket.AF_UNIX).bind('\\0abstract')\nsocket.socket().bind(('', 0))\n"
                                "open('x', 'w').close()\nos.setxattr('x', 'user.a', b'1')\nos.removexattr('x', 'user.a')\n",
                                "{cache}"}},
                      Compared{"fails", {"/bin/sh", "-c", "echo x > $0/x; exit 3", "{cache}"}, Outcome::failed},
                      Compared{"flock_recipe", {subject("flock_recipe.sh"), "{cache}"}},
                      Compared{"mkdir_recipe", {subject("mkdir_recipe.sh"), "{cache}"}}),
    [](const auto& of) { return of.param.name; });

// A recording that is blind for one kind of call is found out, and by what.
TEST(PlainCount, SeesWhatARecordingMissed) {
  const std::vector<std::string> argv{program("static_builder"), "{cache}"};
  const Counts seen = counts_of(recording_of(lane(TraceWork::record, argv, program("blind_starter"))));
  const Counts plain = counts_of(lane(TraceWork::count, argv));
  EXPECT_EQ(sum(plain), 60u);
  Counts missed;
  for (const auto& [what, times] : plain) {
    const auto found = seen.find(what);
    if (const std::size_t also = found == seen.end() ? 0 : found->second; also != times) missed[what] = times - also;
  }
  EXPECT_EQ(missed, (Counts{{"rename artifact.new -> artifact", 1},
                            {"rename work/artifact.tmp -> artifact.new", 1},
                            {"rename work/object.kept -> work/object", 1}}));
}

}  // namespace
}  // namespace jitrace
