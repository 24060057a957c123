#include <gmock/gmock.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> show_self(Command c) {
  auto finished = run_to_end(std::move(c));
  EXPECT_TRUE(finished) << finished.error().message();
  EXPECT_TRUE(finished->status.is_exit(0)) << finished->status.describe();
  return split(finished->output, '\n');
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST(Spawn, SaysTheChildsOwnErrno) {
  const TempDir dir = scratch();
  EXPECT_EQ(Process::spawn(command({"/does/not/exist"})).error().code, ENOENT);
  EXPECT_EQ(Process::spawn(command({"jitrace-no-such-program"})).error().code, ENOENT);
  ASSERT_TRUE(write_file(join(dir.path(), "text"), "no program\n", 0755));
  EXPECT_EQ(Process::spawn(command({join(dir.path(), "text")})).error().code, ENOEXEC);
  EXPECT_EQ(Process::spawn(command({dir.path()})).error().code, EACCES);
  Command elsewhere = command({program("do_nothing")});
  elsewhere.directory = "/does/not/exist";
  EXPECT_EQ(Process::spawn(elsewhere).error().code, ENOENT);
  Command bad_descriptor = command({program("do_nothing")});
  bad_descriptor.out = 987;
  EXPECT_EQ(Process::spawn(bad_descriptor).error().code, EBADF);
  // Nobody remains of a start that failed.
  EXPECT_TRUE(proc_children(::getpid()).empty());
}

TEST(Spawn, NamesTheProgramInTheError) {
  EXPECT_THAT(Process::spawn(command({"/does/not/exist"})).error().message(), HasSubstr("/does/not/exist"));
}

TEST(Spawn, GivesArgumentsDirectoryAndEnvironment) {
  const TempDir dir = scratch();
  Command c = command({program("show_self"), "one two", "", "three"});
  c.directory = dir.path();
  c.environment = {"A=1", "B=two words"};
  const auto lines = show_self(c);
  EXPECT_THAT(lines, Contains("argument one two"));
  EXPECT_THAT(lines, Contains("argument "));
  EXPECT_THAT(lines, Contains("argument three"));
  EXPECT_THAT(lines, Contains("directory " + dir.path()));
  EXPECT_THAT(lines, Contains("environment A=1"));
  EXPECT_THAT(lines, Contains("environment B=two words"));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("environment"); }), 2);
}

TEST(Spawn, LooksAProgramUpOnTheChildsPath) {
  const TempDir dir = scratch();
  ASSERT_TRUE(write_file(join(dir.path(), "tool"), "#!/bin/sh\nexit 42\n", 0755));
  Command c = command({"tool"});
  c.environment = {"PATH=/does/not/exist:" + dir.path()};
  EXPECT_TRUE(Process::spawn(c)->wait()->is_exit(42));
}

TEST(Spawn, LeaksNoDescriptor) {
  // Neither one that somebody opened without close-on-exec…
  const Fd leaky = std::move(open_fd("/dev/null", O_RDONLY, 0, Inherit::yes).value());
  const Fd high(::fcntl(leaky.get(), F_DUPFD, 700));
  EXPECT_THAT(show_self(command({program("show_self")})), Not(Contains(StartsWith("descriptor "))));
  // …nor more than the listed ones.
  Command c = command({program("show_self")});
  c.inherit = {high.get()};
  const auto lines = show_self(c);
  EXPECT_THAT(lines, Contains("descriptor 700"));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("descriptor "); }), 1);
}

TEST(Spawn, PlacesDescriptorsAcrossEachOther) {
  const TempDir dir = scratch();
  const auto file = [&](const char* name) {
    return std::move(open_fd(join(dir.path(), name), O_RDWR | O_CREAT).value());
  };
  const Fd a = file("a"), b = file("b");
  // Each goes where the other is; a plain row of dup2 would lose one.
  Command c = command({"/bin/sh", "-c",
                       "readlink /proc/self/fd/" + std::to_string(a.get()) + "; readlink /proc/self/fd/" +
                           std::to_string(b.get())});
  c.place = {{a.get(), b.get()}, {b.get(), a.get()}};
  const auto finished = run_to_end(c);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->output, join(dir.path(), "b") + "\n" + join(dir.path(), "a") + "\n");
}

TEST(Spawn, ClearsMaskAndDispositions) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  const auto user_before = ::signal(SIGUSR1, [](int) {});
  const auto lines = show_self(command({program("show_self")}));
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  ::signal(SIGPIPE, pipe_before);
  ::signal(SIGUSR1, user_before);
  EXPECT_THAT(lines, Not(Contains(StartsWith("blocked "))));
  EXPECT_THAT(lines, Not(Contains(StartsWith("not default "))));
  // And the parent has its own again.
  EXPECT_EQ(::sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(::sigismember(&before, SIGUSR2), 0);
}

TEST(Spawn, SetsGroupSessionDeathSignalAndLimit) {
  Command c = command({program("show_self")});
  EXPECT_THAT(show_self(c), Contains("leads group 0"));
  c.group = Command::Group::own_group;
  EXPECT_THAT(show_self(c), Contains("leads group 1"));
  EXPECT_THAT(show_self(c), Contains("leads session 0"));
  c.group = Command::Group::own_session;
  c.parent_death_signal = SIGUSR2;
  c.descriptor_limit = 300;
  const auto lines = show_self(c);
  EXPECT_THAT(lines, Contains("leads session 1"));
  EXPECT_THAT(lines, Contains("death signal " + std::to_string(SIGUSR2)));
  EXPECT_THAT(lines, Contains("limit of descriptors 300"));
}

TEST(Spawn, WorksFromManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 20; ++i) {
        auto child = Process::spawn(command({program("end_as"), "exit", std::to_string(t)}));
        if (child && child->wait()->is_exit(t)) ++right;
        if (Process::spawn(command({"/does/not/exist"})).error().code == ENOENT) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 20 * 2);
}

TEST(Process, KillsAndReapsWhenDestroyed) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  pid_t pid = -1;
  {
    auto child = Process::spawn(command({program("ignore_sigterm"), ready.path()}));
    ASSERT_TRUE(child);
    pid = child->pid();
    ASSERT_TRUE(ready.wait());
    EXPECT_TRUE(child->signal(SIGTERM));
    EXPECT_FALSE(child->poll().value().has_value());
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(Process, AssignmentEndsTheOneBefore) {
  auto first = Process::spawn(command({"/bin/sleep", "1000"}));
  auto second = Process::spawn(command({"/bin/sleep", "1000"}));
  ASSERT_TRUE(first && second);
  const pid_t ended = first->pid(), kept = second->pid();
  *first = std::move(*second);
  EXPECT_TRUE(is_gone(ended));
  EXPECT_FALSE(is_gone(kept));
  EXPECT_EQ(first->pid(), kept);
}

TEST(Process, RemembersItsEnd) {
  auto child = Process::spawn(command({program("end_as"), "exit", "200"}));
  ASSERT_TRUE(child);
  EXPECT_TRUE(child->wait()->is_exit(200));
  EXPECT_TRUE(child->wait()->is_exit(200));
  EXPECT_TRUE(child->poll().value()->is_exit(200));
  EXPECT_EQ(child->signal(SIGKILL).error().code, ESRCH);
}

TEST(RunToEnd, GivesStatusAndBothOutputs) {
  const auto finished = run_to_end(command({"/bin/sh", "-c", "echo out; echo err >&2; exit 9"}));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->status.is_exit(9));
  EXPECT_EQ(finished->output, "out\nerr\n");
}

TEST(RunToEnd, CutsLongOutputAndWaitsForNoGrandchild) {
  const auto long_one = run_to_end(command({"/bin/sh", "-c", "head -c 3000000 /dev/zero"}));
  ASSERT_TRUE(long_one);
  EXPECT_EQ(long_one->output.size(), 1u << 20);
  EXPECT_TRUE(long_one->status.is_exit(0));
  const TempDir dir = scratch();
  // The sleeper keeps the pipe; it is killed here by its own number, which it printed.
  const auto left = run_to_end(command({"/bin/sh", "-c", "sleep 1000 & echo $!"}));
  ASSERT_TRUE(left);
  const auto pid = parse_int(left->output.substr(0, left->output.find('\n')));
  ASSERT_TRUE(pid) << left->output;
  EXPECT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0);
}

TEST(Environment, LaysChangesOverOurs) {
  ::setenv("JITRACE_TEST_KEEP", "1", 1);
  ::setenv("JITRACE_TEST_CHANGE", "old", 1);
  ::setenv("JITRACE_TEST_REMOVE", "1", 1);
  const auto environment = environment_with({"JITRACE_TEST_CHANGE=new", "JITRACE_TEST_REMOVE", "JITRACE_TEST_ADD=a=b"});
  EXPECT_THAT(environment, Contains("JITRACE_TEST_KEEP=1"));
  EXPECT_THAT(environment, Contains("JITRACE_TEST_CHANGE=new"));
  EXPECT_THAT(environment, Not(Contains("JITRACE_TEST_CHANGE=old")));
  EXPECT_THAT(environment, Not(Contains(StartsWith("JITRACE_TEST_REMOVE"))));
  EXPECT_THAT(environment, Contains("JITRACE_TEST_ADD=a=b"));
}

}  // namespace
}  // namespace jitrace
