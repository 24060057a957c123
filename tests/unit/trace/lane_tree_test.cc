// Whoever is below the lane is followed from its first instruction, and none of them is left.
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

TEST(LaneTree, FollowsAChildOfVforkAndExec) {
  LaneRun run({test_program("vfork_exec"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(run.calls(),
              ElementsAre("A/exe: open child O_WRONLY|O_CREAT|O_TRUNC", "A/exe: write child", "A/exe: write child",
                          "A/exe: write child", "A/exe: close child", "A: open child O_RDONLY", "A: close child"));
}

TEST(LaneTree, FollowsADaemonWhoseParentsAreGone) {
  LaneRun run({test_program("double_daemon"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.calls("rename"), ElementsAre("A/double_daemon/double_daemon: rename daemon.new -> daemon"));
  EXPECT_EQ(run.calls("write").size(), 3u);
}

TEST(LaneTree, FollowsEachThread) {
  LaneRun run({test_program("thread_writer"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  for (const char* name : {"t0", "t1", "t2", "t3"})
    EXPECT_EQ(run.calls(std::string("write ") + name).size(), 8u) << name;
  EXPECT_EQ(run.calls("write shared").size(), 32u);
}

TEST(LaneTree, FollowsAShellAndWhatItStarts) {
  LaneRun run({"/bin/sh", "-c", "(echo x >\"$0/by_shell\"; cp \"$0/by_shell\" \"$0/by_cp\")", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.calls("write by_shell"), ElementsAre("A/sh: write by_shell"));
  const auto copied = run.calls("by_cp");
  EXPECT_THAT(copied, Contains("A/cp: open by_cp O_WRONLY|O_CREAT|O_EXCL"));  // a shell becomes its last command
}

// What a shell does between fork and exec (here: a redirection) is a step like any other.
TEST(LaneTree, KillsAtACallBetweenForkAndExec) {
  const std::vector<std::string> command{"/bin/sh", "-c", "(exec cat </dev/null >\"$0/out\"); :", "{cache}"};
  LaneRun recorded(command);
  ASSERT_TRUE(recorded.run());
  const Recording recording = recording_of(recorded.history);
  const auto opened = std::find_if(recording.calls.begin(), recording.calls.end(),
                                   [](const RecordedCall& call) { return call.what.starts_with("open out"); });
  ASSERT_NE(opened, recording.calls.end());
  const std::string role = recording.processes[static_cast<std::size_t>(opened->process)].role;
  EXPECT_EQ(role, "A/sh");
  LaneRun run(command);
  run.plan.work = TraceWork::kill;
  run.plan.step = StepName{role, opened->what, 1, Side::after};
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.all(EventKind::fault_fired).size(), 1u) << run.history.text();
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::killed_by_plan, Outcome::served));
}

TEST(LaneTree, FollowsADescriptorThatWasHandedOver) {
  LaneRun run({test_program("scm_rights"), "{cache}"});
  ASSERT_TRUE(run.run());
  const Recording recording = recording_of(run.history);
  int opener = -1, writer = -1;
  for (const RecordedCall& call : recording.calls) {
    if (call.what.starts_with("open passed O_WRONLY")) opener = call.process;
    if (call.what == "write passed") writer = call.process;
  }
  EXPECT_EQ(recording.processes[static_cast<std::size_t>(writer)].role, "A/scm_rights");
  EXPECT_NE(opener, writer);
}

TEST(LaneTree, FollowsAProgramThatAThreadBecame) {
  LaneRun run({test_program("thread_exec"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_EQ(run.calls("write after").size(), 3u);
}

TEST(LaneTree, NamesTheProgramAndNeverItsOwnStarter) {
  for (int i = 0; i < 10; ++i) {
    LaneRun run({test_program("do_nothing")});
    ASSERT_TRUE(run.run());
    const auto started = run.all(EventKind::process_started);
    ASSERT_EQ(started.size(), 1u);
    EXPECT_EQ(started[0].text, "A|" + test_program("do_nothing"));
  }
}

TEST(LaneTree, FifosSocketsAndAttributesAreChanges) {
  LaneRun run({"/usr/bin/python3", "-ISc",
               "import os, socket, sys\nos.chdir(sys.argv[1])\nos.mkfifo('fifo')\nsocket.socket(socket.AF_UNIX).bind('server.sock')\n"
               "open('x', 'w').close()\nos.setxattr('x', 'user.a', b'1')\n",
               "{cache}"});
  ASSERT_TRUE(run.run());
  const Recording recording = recording_of(run.history);
  std::vector<std::string> changes;
  for (const RecordedCall& call : recording.calls) {
    if (call.changed) changes.push_back(call.what);
  }
  EXPECT_THAT(changes, ElementsAre("make fifo", "make server.sock", "open x O_WRONLY|O_CREAT|O_TRUNC", "xattr x user.a"));
  EXPECT_TRUE(run.all(EventKind::warned).empty());
}

TEST(LaneTree, SaysWhatItCannotFollow) {
  LaneRun ring({test_program("uses_io_uring"), "{cache}"});
  ASSERT_TRUE(ring.run());
  EXPECT_THAT(ring.first(EventKind::warned).text, HasSubstr("io_uring_setup"));
  EXPECT_THAT(ring.outcomes(), ElementsAre(Outcome::served));
  LaneRun tracer({test_program("uses_ptrace"), "{cache}"});
  ASSERT_TRUE(tracer.run());
  EXPECT_THAT(tracer.first(EventKind::warned).text, HasSubstr("ptrace"));
  EXPECT_THAT(tracer.first(EventKind::outcome).text, HasSubstr("exit 3"));  // refused, as by a debugger that was first
}

struct WayAround {
  const char* name;
  long number;
  std::array<long, 4> arguments;  // which the kernel refuses: that it was tried is enough
};
class LaneWayAround : public ::testing::TestWithParam<WayAround> {};

TEST_P(LaneWayAround, IsSaid) {
  const WayAround& way = GetParam();
  std::string call = "ctypes.CDLL(None).syscall(" + std::to_string(way.number);
  for (const long argument : way.arguments) call += ", ctypes.c_long(" + std::to_string(argument) + ")";
  LaneRun run({"/usr/bin/python3", "-ISc", "import ctypes\n" + call + ")\n", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  ASSERT_EQ(run.all(EventKind::warned).size(), 1u) << run.history.text();
  EXPECT_THAT(run.first(EventKind::warned).text, HasSubstr(way.name));
}

INSTANTIATE_TEST_SUITE_P(LaneTree, LaneWayAround,
                         ::testing::Values(WayAround{"pivot_root", SYS_pivot_root, {}}, WayAround{"chroot", SYS_chroot, {}},
                                           WayAround{"mount", SYS_mount, {}}, WayAround{"umount2", SYS_umount2, {}},
                                           WayAround{"io_submit", SYS_io_submit, {}},
                                           WayAround{"open_by_handle_at", SYS_open_by_handle_at, {-1}},
                                           WayAround{"setns", SYS_setns, {-1}},
                                           WayAround{"process_vm_writev", SYS_process_vm_writev, {-1}},
                                           WayAround{"io_uring_enter", SYS_io_uring_enter, {-1}},
                                           WayAround{"open_tree", SYS_open_tree, {-1}},
                                           WayAround{"move_mount", SYS_move_mount, {-1, 0, -1, 0}},
                                           WayAround{"seccomp", SYS_seccomp, {1, 8, 0, 0}}),
                         [](const auto& of) { return of.param.name; });

TEST(LaneTree, SaysThatASetuidProgramDoesWithoutItsPrivilege) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  LaneRun run({"/bin/sh", "-c", "\"$0/../own\"; \"$0/../theirs\"", "{cache}"});
  for (const auto& [name, owner] : {std::pair{"own", 0U}, std::pair{"theirs", 65534U}}) {
    ASSERT_TRUE(copy_file("/bin/true", run.path(name)));
    ASSERT_EQ(::chown(run.path(name).c_str(), owner, 0), 0);
    ASSERT_EQ(::chmod(run.path(name).c_str(), 04755), 0);
  }
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  ASSERT_EQ(run.all(EventKind::warned).size(), 1u) << run.history.text();
  EXPECT_THAT(run.first(EventKind::warned).text, HasSubstr("theirs: the program is setuid"));
}

#ifdef __x86_64__
TEST(LaneTree, SaysThatCallsOf32BitsAreNotFollowed) {
  LaneRun run({test_program("calls_32bit"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(run.first(EventKind::warned).text, HasSubstr("32-bit"));
  EXPECT_EQ(run.calls("write after").size(), 3u);
}
#endif

TEST(LaneTree, LeavesTheSignalOfFiltersToTheSubject) {
  LaneRun run({test_program("catches_sigsys"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(run.all(EventKind::warned), IsEmpty());
}

TEST(LaneTree, ACommandThatDoesNotExistIsSaidSo) {
  LaneRun run({"/does/not/exist"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::failed));
  EXPECT_THAT(run.first(EventKind::outcome).text, HasSubstr("/does/not/exist"));
}

TEST(LaneTree, OneThatWaitsForASignalOnlyIsHungAndEnded) {
  LaneRun run({test_program("ignore_sigterm"), "{out}/ready"});
  ASSERT_EQ(::system(("mkfifo " + run.path("scratch/ready") + " && exec 3<>" + run.path("scratch/ready")).c_str()), 0);
  run.plan.command = {"/bin/sh", "-c", "exec 3<>\"$1\"; exec \"$0\" \"$1\"", test_program("ignore_sigterm"),
                      "{out}/ready"};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("nobody can move"));
  EXPECT_EQ(run.passed(), 0);
}

TEST(LaneTree, NothingIsLeftOfALaneThatWasKilled) {
  LaneRun run({"/bin/sh", "-c",
               "(exec setsid sh -c 'while :; do : >\"$0/beat\"; done' \"$0\") & while :; do : >\"$0/pulse\"; done",
               "{cache}"});
  auto lane = run.start();
  ASSERT_TRUE(lane);
  const Nanoseconds end = now() + seconds(20);
  while (now() < end &&
         !(std::filesystem::exists(run.in_cache("beat")) && std::filesystem::exists(run.in_cache("pulse")))) {
    ASSERT_FALSE(lane->poll().value());
  }
  EXPECT_FALSE(run.leftovers().processes().empty());
  ASSERT_TRUE(lane->signal(SIGKILL));
  ASSERT_TRUE(lane->wait());
  EXPECT_THAT(run.leftovers().wait_for_processes(seconds(10)), IsEmpty());
}

TEST(LaneTree, AnOrphanOfAKilledBuilderIsFollowedToItsEnd) {
  for (const OrphanOrder order : {OrphanOrder::first, OrphanOrder::held}) {
    LaneRun recorded({subject("flock_recipe.sh"), "{cache}"});
    ASSERT_TRUE(recorded.run());
    const auto calls = recorded.calls("write k.so");
    ASSERT_FALSE(calls.empty());
    const std::string role = calls[0].substr(0, calls[0].find(": "));
    EXPECT_TRUE(role.ends_with("/ld")) << role;
    LaneRun run({subject("flock_recipe.sh"), "{cache}"});
    run.plan.work = TraceWork::kill;
    run.plan.who = Victim::builder;
    run.plan.order = order;
    run.plan.step = StepName{role, "write k.so", 1, Side::before};
    ASSERT_TRUE(run.run());
    EXPECT_EQ(run.all(EventKind::fault_fired).size(), 1u);
    EXPECT_FALSE(run.all(EventKind::process_adopted).empty());
    ASSERT_GE(run.outcomes().size(), 2u);
    EXPECT_EQ(run.outcomes()[0], Outcome::killed_by_plan);
    // g++ holds the lock on: the next one waits for it, and is served by what the orphan made.
    EXPECT_EQ(run.outcomes()[1], Outcome::served) << run.history.text();
    if (order == OrphanOrder::held) {
      EXPECT_THAT(run.first(EventKind::parked).text, HasSubstr("flock lock"));
    }
    std::set<Slot> started;
    for (const Event& event : run.all(EventKind::process_started)) started.insert(event.slot);
    EXPECT_EQ(run.all(EventKind::process_ended).size(), started.size());
  }
}

}  // namespace
}  // namespace jitrace
