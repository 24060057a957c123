#include "process/guard.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

using Kind = GuardEvent::Kind;
using ::testing::HasSubstr;

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST(Guard, TellsStartAndEnd) {
  Lane lane;
  const Nanoseconds before = now();
  const auto id = lane.start({program("end_as"), "exit", "137"});
  ASSERT_TRUE(lane.wait(Kind::ended));
  const GuardEvent* started = lane.find(Kind::started, id);
  const GuardEvent* ended = lane.find(Kind::ended, id);
  ASSERT_TRUE(started && ended);
  EXPECT_EQ(started->pid, ended->pid);
  EXPECT_TRUE(ended->status->is_exit(137));
  EXPECT_LE(before, started->stamp);
  EXPECT_LE(started->stamp, ended->stamp);
  EXPECT_LE(ended->stamp, now());
  EXPECT_EQ(lane.guard.signal(id, SIGKILL).error().code, ESRCH);
}

TEST(Guard, TellsWhyAProcessDidNotStart) {
  Lane lane;
  const auto missing = lane.start({"/does/not/exist"});
  const auto nowhere = lane.start({program("do_nothing")}, {"A=1"}, "/does/not/exist");
  const auto no_output = lane.start({program("do_nothing")}, {"A=1"}, "", "/does/not/exist/out");
  const auto nothing = lane.start({});
  const auto too_long = lane.start({program("do_nothing"), std::string(1 << 20, 'x')});
  ASSERT_TRUE(lane.wait(Kind::not_started, 5));
  EXPECT_EQ(lane.find(Kind::not_started, missing)->error, ENOENT);
  EXPECT_THAT(lane.find(Kind::not_started, missing)->text, HasSubstr("/does/not/exist"));
  EXPECT_EQ(lane.find(Kind::not_started, nowhere)->error, ENOENT);
  EXPECT_EQ(lane.find(Kind::not_started, no_output)->error, ENOENT);
  EXPECT_EQ(lane.find(Kind::not_started, nothing)->error, EINVAL);
  EXPECT_EQ(lane.find(Kind::not_started, too_long)->error, E2BIG);
}

TEST(Guard, PassesLargeArgumentsAndEnvironmentsWhole) {
  const TempDir dir = scratch();
  Lane lane;
  std::vector<std::string> argv = {"/bin/sh", "-c", "echo $# ${#BIG}"};
  for (int i = 0; i < 5000; ++i) argv.push_back("argument number " + std::to_string(i));
  const std::string out = join(dir.path(), "out");
  lane.start(argv, environment_with({"BIG=" + std::string(100'000, 'b')}), dir.path(), out);
  ASSERT_TRUE(lane.wait(Kind::ended));
  EXPECT_EQ(read_file(out).value(), "4999 100000\n");
}

TEST(Guard, GivesAProcessItsSurroundings) {
  const TempDir dir = scratch();
  const std::string out = join(dir.path(), "out");
  ASSERT_TRUE(write_file(out, "before\n"));
  Lane lane;
  lane.start({program("show_self")}, {"ONLY=this"}, dir.path(), out);
  ASSERT_TRUE(lane.wait(Kind::ended));
  const auto lines = split(read_file(out).value(), '\n');
  EXPECT_THAT(lines, ::testing::Contains("before"));
  EXPECT_THAT(lines, ::testing::Contains("directory " + dir.path()));
  EXPECT_THAT(lines, ::testing::Contains("environment ONLY=this"));
  EXPECT_THAT(lines, ::testing::Contains("leads group 1"));
  EXPECT_THAT(lines, ::testing::Contains("death signal " + std::to_string(SIGKILL)));
  EXPECT_THAT(lines, ::testing::Not(::testing::Contains(::testing::StartsWith("descriptor "))) )
      << "a descriptor of the guard leaked";
  EXPECT_THAT(lines, ::testing::Not(::testing::Contains(::testing::StartsWith("blocked "))));
}

TEST(Guard, SignalsReachTheProcess) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  const auto id = lane.start({program("ignore_sigterm"), ready.path()});
  EXPECT_EQ(lane.guard.signal(id, SIGKILL).error().code, EAGAIN);
  ASSERT_TRUE(lane.wait(Kind::started));
  ASSERT_TRUE(ready.wait());
  EXPECT_TRUE(lane.guard.signal(id, SIGTERM));
  EXPECT_TRUE(lane.guard.signal(id, SIGUSR2));
  ASSERT_TRUE(lane.wait(Kind::ended));
  EXPECT_TRUE(lane.find(Kind::ended, id)->status->is_kill(SIGUSR2));
}

TEST(Guard, SignalsReachTheGroup) {
  Lane lane;
  // The shell outlives what its child dies of: it ends after the child, and says so by how.
  const auto id = lane.start({"/bin/sh", "-c", "trap 'wait; exit 5' USR1; sleep 1000 & wait"});
  ASSERT_TRUE(lane.wait(Kind::started));
  // Not merely forked: until it is sleep, the child still has the shell's handler and would live on.
  const auto sleeps = [&lane] {
    const auto all = lane.guard.descendants();
    return std::any_of(all.begin(), all.end(), [](const Descendant& d) { return d.arguments.starts_with("sleep"); });
  };
  while (!sleeps()) {
  }
  EXPECT_TRUE(lane.guard.signal_group(id, SIGUSR1));
  ASSERT_TRUE(lane.wait(Kind::ended));
  EXPECT_TRUE(lane.find(Kind::ended, id)->status->is_exit(5));
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_EQ(lane.events.back().count, 0);
}

TEST(Guard, AdoptsAnOrphanOnce) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  const auto id = lane.start({program("fork_orphan"), ready.path()});
  const auto other = lane.start({program("end_as"), "exit", "0"});
  ASSERT_TRUE(lane.wait(Kind::ended, 2));
  ASSERT_TRUE(lane.wait(Kind::adopted));
  ASSERT_TRUE(ready.wait());
  EXPECT_TRUE(lane.find(Kind::ended, id)->status->is_exit(3));
  EXPECT_TRUE(lane.find(Kind::ended, other)->status->is_exit(0));
  const GuardEvent orphan = *lane.find(Kind::adopted, 0);
  EXPECT_THAT(orphan.text, HasSubstr("fork_orphan " + ready.path()));
  const auto below = lane.guard.descendants();
  ASSERT_EQ(below.size(), 1u);
  EXPECT_EQ(below[0].pid, orphan.pid);
  EXPECT_EQ(below[0].parent, lane.guard.pid());
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_EQ(lane.count(Kind::adopted), 1);
  ASSERT_EQ(lane.count(Kind::adopted_ended), 1);
  EXPECT_TRUE(lane.find(Kind::adopted_ended, 0)->status->is_kill(SIGKILL));
  EXPECT_TRUE(is_gone(orphan.pid));
}

TEST(Guard, SweepsADaemon) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  lane.start({program("double_fork"), ready.path()});
  ASSERT_TRUE(ready.wait());
  ASSERT_TRUE(lane.wait(Kind::ended));
  while (lane.guard.descendants().size() > 1) {
  }
  const pid_t daemon = lane.guard.descendants()[0].pid;
  EXPECT_EQ(::getsid(daemon) == ::getsid(0), false);
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_EQ(lane.events.back().count, 1);
}

TEST(Guard, SweepsWhoIgnoresSignalsAndWhoIsStopped) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  const auto stubborn = lane.start({program("ignore_sigterm"), ready.path()});
  const auto stopped = lane.start({program("ignore_sigterm"), ready.path()});
  ASSERT_TRUE(lane.wait(Kind::started, 2));
  ASSERT_TRUE(ready.wait(2));
  ASSERT_TRUE(lane.guard.signal(stopped, SIGSTOP));
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_TRUE(lane.find(Kind::ended, stubborn)->status->is_kill(SIGKILL));
  EXPECT_TRUE(lane.find(Kind::ended, stopped)->status->is_kill(SIGKILL));
  EXPECT_EQ(lane.events.back().count, 2);
  EXPECT_TRUE(lane.guard.descendants().empty());
}

TEST(Guard, SweepsAForkStorm) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  lane.start({program("fork_storm"), ready.path()}, {"JITRACE_STORM=" + dir.path()});
  ASSERT_TRUE(ready.wait());
  while (lane.guard.descendants().size() < 30) {
  }
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_TRUE(find_by_environment("JITRACE_STORM=" + dir.path()).empty());
  EXPECT_EQ(lane.count(Kind::adopted), lane.count(Kind::adopted_ended));
}

TEST(Guard, SweepOfAnEmptyLaneIsAnsweredAtOnceAndTwice) {
  Lane lane;
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept, 1));
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept, 2));
  EXPECT_EQ(lane.events.back().count, 0);
  // And the lane goes on.
  lane.start({program("do_nothing")});
  EXPECT_TRUE(lane.wait(Kind::ended));
}

TEST(Guard, CarriesManyProcessesAtOnce) {
  constexpr int workers = 512;
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  for (int i = 0; i < workers; ++i) lane.start({program("ignore_sigterm"), ready.path()});
  ASSERT_TRUE(lane.wait(Kind::started, workers));
  ASSERT_TRUE(ready.wait(workers));
  std::set<pid_t> pids;
  for (const GuardEvent& event : lane.events) pids.insert(event.pid);
  EXPECT_EQ(pids.size(), static_cast<std::size_t>(workers));
  EXPECT_EQ(lane.guard.descendants().size(), static_cast<std::size_t>(workers));
  ASSERT_TRUE(lane.guard.sweep());
  ASSERT_TRUE(lane.wait(Kind::swept));
  EXPECT_EQ(lane.count(Kind::ended), workers);
  EXPECT_EQ(lane.events.back().count, workers);
}

TEST(Guard, EventsOfADriverThatDoesNotReadAreKept) {
  constexpr int processes = 400;
  Lane lane;
  for (int i = 0; i < processes; ++i) lane.start({program("do_nothing")});
  ASSERT_TRUE(lane.wait(Kind::ended, processes));
  EXPECT_EQ(lane.count(Kind::started), processes);
  EXPECT_EQ(lane.count(Kind::adopted), 0);
}

TEST(Guard, SurvivesWhatATerminalSends) {
  Lane lane;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ASSERT_EQ(::kill(lane.guard.pid(), number), 0);
  lane.start({program("end_as"), "exit", "4"});
  ASSERT_TRUE(lane.wait(Kind::ended));
  EXPECT_NE(::getsid(lane.guard.pid()), ::getsid(0));
}

TEST(Guard, ItsDeathIsAnErrorAndTakesItsWorkersAlong) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  Lane lane;
  const auto id = lane.start({program("ignore_sigterm"), ready.path()}, {"JITRACE_LONE=" + dir.path()});
  ASSERT_TRUE(lane.wait(Kind::started));
  ASSERT_TRUE(ready.wait());
  const Fd worker = std::move(open_pidfd(lane.find(Kind::started, id)->pid).value());
  ASSERT_EQ(::kill(lane.guard.pid(), SIGKILL), 0);
  pollfd ended{worker.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
  EXPECT_FALSE(lane.wait(Kind::ended));
  EXPECT_FALSE(lane.guard.sweep());
}

TEST(Guard, RefusesToRunByHand) {
  const auto finished = run_to_end(command({guard_program()}));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->status.is_exit(64));
  EXPECT_THAT(finished->output, HasSubstr("jitrace starts this program"));
}

}  // namespace
}  // namespace jitrace
