// Time passes when nobody can move: long waits end as they would, and only what has no end is called a hang.
#include <sys/file.h>

#include <cstdio>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

TEST(LaneTime, TwoLocksInOppositeOrderAreAHangOutright) {
  LaneRun run({test_program("two_flocks_deadlock"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  const Event proof = run.first(EventKind::hang_proved);
  EXPECT_THAT(proof.text, HasSubstr("proved: nobody can move"));
  const auto parked = run.all(EventKind::parked);
  ASSERT_EQ(parked.size(), 2u);
  for (const Event& waiter : parked) EXPECT_THAT(proof.text, HasSubstr("(pid " + std::to_string(waiter.pid) + ")"));
  EXPECT_EQ(run.passed(), 0);
}

TEST(LaneTime, ACycleOfRecordLocksIsTheKernelsOwnError) {
  LaneRun run({test_program("posix_deadlock"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served)) << run.history.text();
}

// Each waits for a byte that the next one holds, and the last one waits for nobody: they share a file, not a cycle.
TEST(LaneTime, AChainOfRecordLocksIsNoCycle) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
path = sys.argv[1] + "/bytes"
open(path, "w").close()
ready, said = os.pipe()
children = []
for own, before in ((0, 1), (1, 2), (2, 60)):
    child = os.fork()
    if child == 0:
        file = open(path, "r+")
        fcntl.lockf(file, fcntl.LOCK_EX, 1, own)
        os.write(said, b"r")
        time.sleep(before)
        if own < 2: fcntl.lockf(file, fcntl.LOCK_EX, 1, own + 1)
        os._exit(0)
    children.append(child)
print("ended as " + str([os.waitpid(child, 0)[1] for child in children]))
)");
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "ended as [0, 0, 0]") << run.history.text();
}

TEST(LaneTime, AnAlarmEndsTheWaitForALock) {
  LaneRun run({test_program("alarm_flock"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "exit 3");
  EXPECT_GT(run.passed(), seconds(4));
}

TEST(LaneTime, AnAlarmWhoseHandlerRestartsTheCallDoesNot) {
  LaneRun run({test_program("alarm_flock"), "{cache}", "--restart"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung)) << run.first(EventKind::outcome).text;
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("flock lock LOCK_EX"));
}

TEST(LaneTime, AnInterruptedSleepTellsItsRest) {
  LaneRun run({test_program("interrupted_sleep")});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served)) << run.first(EventKind::outcome).text;
}

TEST(LaneTime, ALockThatIsLetGoIsGranted) {
  LaneRun run({"/bin/bash", "-c",
               "exec 8>\"$0/lock\"; flock 8; (exec 9>\"$0/lock\"; flock 9; echo granted) & sleep 5; flock -u 8; wait",
               "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_FALSE(run.all(EventKind::parked).empty());
  EXPECT_EQ(run.first(EventKind::outcome).text, "granted");
}

// By the close of a descriptor that is no file of the cache: no stop tells of it.
TEST(LaneTime, ALockOutsideOfTheCacheThatACloseLetsGoIsGranted) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
path = sys.argv[1] + "/../beside"
ready, said = os.pipe()
if os.fork() == 0:
    held = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    os.write(said, b"r")
    time.sleep(5)
    os.close(held)
    time.sleep(3600)
    os._exit(0)
os.read(ready, 1)
began = time.monotonic()
fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)
took = time.monotonic() - began
print("granted after 5 s" if 4 < took < 60 else f"granted after {took} s")
)");
  ASSERT_TRUE(run.run());
  EXPECT_FALSE(run.all(EventKind::parked).empty());
  EXPECT_EQ(run.first(EventKind::outcome).text, "granted after 5 s") << run.history.text();
}

// Any close of the file by its owner lets go of a record lock.
TEST(LaneTime, ARecordLockThatACloseLetsGoIsGranted) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
path = sys.argv[1] + "/lock"
ready, said = os.pipe()
if os.fork() == 0:
    held = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.lockf(held, fcntl.LOCK_EX)
    os.write(said, b"r")
    time.sleep(5)
    os.close(held)
    time.sleep(3600)
    os._exit(0)
os.read(ready, 1)
began = time.monotonic()
fcntl.lockf(os.open(path, os.O_RDWR), fcntl.LOCK_EX)
took = time.monotonic() - began
print("granted after 5 s" if 4 < took < 60 else f"granted after {took} s")
)");
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "granted after 5 s") << run.history.text();
}

TEST(LaneTime, AWaitThatASignalBrokeIntoStillEnds) {
  LaneRun run = python(R"(
import select, subprocess, time
child = subprocess.Popen(["sleep", "10"])
began = time.monotonic()
select.poll().poll(60000)
print("a minute" if 59 < time.monotonic() - began < 70 else time.monotonic() - began)
)");
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "a minute") << run.history.text();
  EXPECT_LT(run.took, run.passed());
}

TEST(LaneTime, TimersThatAreDescriptorsGoWithMovedTime) {
  LaneRun run({test_program("timer_descriptors"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "ok") << run.history.text();
  EXPECT_GT(run.passed(), seconds(600 + 120 + 200 + 5 + 3600 + 600 + 999));
  EXPECT_LT(run.took, run.passed());
  EXPECT_TRUE(run.all(EventKind::warned).empty());
}

// A loop of events whose only one is a timer's, as asyncio's and libuv's are.
TEST(LaneTime, APollerThatATimerDescriptorWakesIsProvedHung) {
  LaneRun run = python(R"(
import ctypes, os, select, struct, sys
libc = ctypes.CDLL(None)
timer = libc.timerfd_create(1, 0)
libc.timerfd_settime(timer, 0, struct.pack("4q", 0, 50_000_000, 0, 50_000_000), None)
events = select.epoll()
events.register(timer, select.EPOLLIN)
while not os.path.exists(sys.argv[1] + "/done"):
    events.poll()
    os.read(timer, 8)
)");
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung)) << run.history.text();
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("polls for ever: stat done"));
  EXPECT_LT(run.took, run.passed() / 10);
}

TEST(LaneTime, WhatIsLeftOfATimerCanBeAsked) {
  LaneRun run = python(R"(
import signal, time
signal.setitimer(signal.ITIMER_REAL, 100, 7)
signal.signal(signal.SIGALRM, lambda *_: None)
time.sleep(60)
left, interval = signal.getitimer(signal.ITIMER_REAL)
print("40 s left" if 35 < left <= 40 and interval == 7 else (left, interval))
)");
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "40 s left") << run.history.text();
}

TEST(LaneTime, TimePassesForTheThreadsOfAProcessWhoseFirstOneEnded) {
  LaneRun run({test_program("leader_ends"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_LT(run.took, run.passed());
}

TEST(LaneTime, TimePassesAndSnapshotsAreTakenWhileAParentStandsInVfork) {
  LaneRun run({test_program("vfork_sleeper"), "{cache}"});
  run.plan.snapshots = run.path("snapshots");
  run.plan.snapshot_at = {StepName{"A/vfork_sleeper", "write child", 2, Side::after}};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_EQ(read_file(run.path("snapshots/0/child")).value(), "piece\npiece\n");
  EXPECT_LT(run.took, run.passed());
}

TEST(LaneTime, ASignalOfASiblingEndsASleeper) {
  LaneRun run({"/bin/bash", "-c", "sleep 100000 & victim=$!; sleep 2; kill $victim; wait $victim; echo $?"});
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "143");
  EXPECT_LT(run.passed(), seconds(100));
}

TEST(LaneTime, AStoppedProcessGoesOnWhereItStood) {
  LaneRun run({"/bin/bash", "-c",
               "sleep 5 & sleeper=$!; (trap 'exit 7' TERM; while :; do :; done) & burner=$!; sleep 1;"
               "kill -STOP $sleeper $burner; sleep 1; kill -CONT $sleeper $burner; kill $burner;"
               "wait $sleeper; echo -n $?; wait $burner; echo $?"});
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "07");
}

// Each control waits long for something that ends.
TEST(LaneTime, AFlockWithALimitAgainstALockHeldOutsideEndsAsItsLimit) {
  LaneRun run({subject("flock_wait_recipe.sh"), "{cache}"});
  const Fd held = std::move(open_fd(run.in_cache("lock"), O_RDWR | O_CREAT).value());
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(run.all(EventKind::hang_proved), IsEmpty());
  EXPECT_GE(run.took, seconds(5)) << "we might have let go of it until then";
  EXPECT_THAT(read_file(run.path("scratch/output-A")).value(), HasSubstr("no lock after 5 s"));
}

TEST(LaneTime, AFileLockWithALimitEndsAsItsLimit) {
  LaneRun run({subject("filelock_limit.py"), "{cache}"});
  ASSERT_TRUE(write_file(run.restored("k.lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_THAT(read_file(run.path("scratch/output-B")).value(), HasSubstr("no lock after 600 s"));
  EXPECT_GE(run.passed(), seconds(590));
}

TEST(LaneTime, ACountedLoopEndsByItsCount) {
  LaneRun run({subject("counted_loop.sh"), "{cache}"});
  ASSERT_TRUE(make_dirs(run.restored("lock.d")));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_GE(run.passed(), seconds(60));
}

TEST(LaneTime, ABuilderThatSleepsTenMinutesIsAwaited) {
  LaneRun run({subject("sleepy_builder.sh"), "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
  EXPECT_GE(run.passed(), seconds(590));
}

// Ten minutes each, a week in all, and one that polls for every one of them.
TEST(LaneTime, AThousandSlowBuildsAreNoHang) {
  constexpr int builds = 1000;
  LaneRun run = python("import os, sys, time\n"
                       "os.chdir(sys.argv[1])\n"
                       "builder = os.fork()\n"
                       "for i in range(" + std::to_string(builds) + "):\n"
                       "  if builder == 0:\n"
                       "    time.sleep(600)\n"
                       "    open(str(i), 'w').close()\n"
                       "  else:\n"
                       "    while not os.path.exists(str(i)): time.sleep(0.1)\n"
                       "if builder == 0: os._exit(0)\n"
                       "os.wait()\n"
                       "print('all of them')\n");
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.all(EventKind::hang_proved), IsEmpty());
  EXPECT_EQ(run.first(EventKind::outcome).text, "all of them");
  EXPECT_GE(run.passed(), builds * seconds(600));
  // The rule of three.
  std::printf("false hangs: 0 of %d waits of ten minutes, so at most %.2f %% of them (95 %%); %.2f s\n", builds, 300.0 / builds,
              static_cast<double>(run.took) / 1e9);
}

TEST(LaneTime, ABuilderThatComputesIsAwaitedByAPoller) {
  LaneRun run({"/bin/bash", "-c",
               "python3 -ISc 'import os, sys, time\nwhile time.process_time() < 1: pass\nopen(sys.argv[1], \"w\")' "
               "\"$0/done\" &"
               "until [ -e \"$0/done\" ]; do sleep 0.01; done; echo built",
               "{cache}"});
  run.plan.polls = 10;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "built");
  EXPECT_GT(run.took, seconds(1));
}

// What it takes from the start of a poller to the proof.
TEST(LaneTime, APollerOfWhatNobodyMakesIsProvedHung) {
  LaneRun run = python(R"(
import os, sys, time
while os.path.exists(sys.argv[1] + "/lock"): time.sleep(0.1)
)");
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  const Event proof = run.first(EventKind::hang_proved);
  EXPECT_THAT(proof.text, HasSubstr("stat lock"));
  EXPECT_THAT(proof.text, HasSubstr("1000 wake-ups without a change"));
  std::printf("from the start of a poller to the proof: %.3f s\n",
              static_cast<double>(proof.stamp - run.first(EventKind::process_started).stamp) / 1e9);
}

// Not by a sleep: each wait is the same call with the same arguments as the one before, and still another.
TEST(LaneTime, APollerThatWaitsInSelectIsProvedHungAsWell) {
  LaneRun run = python(R"(
import os, select, sys
while os.path.exists(sys.argv[1] + "/lock"): select.select([], [], [], 0.1)
)");
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("polls for ever: stat lock"));
  EXPECT_LT(run.took, run.passed());
}

TEST(LaneTime, APollerThatLocksToLookIsProvedHungAsWell) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
state = os.open(sys.argv[1] + "/state.lock", os.O_RDWR | os.O_CREAT)
done = False
while not done:
    fcntl.flock(state, fcntl.LOCK_EX)
    done = os.path.exists(sys.argv[1] + "/done")
    fcntl.flock(state, fcntl.LOCK_UN)
    time.sleep(0.1)
)");
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  const std::string proof = run.first(EventKind::hang_proved).text;
  EXPECT_THAT(proof, HasSubstr("polls for ever: stat done"));
  EXPECT_THAT(proof, HasSubstr("1000 wake-ups without a change"));
  EXPECT_LT(run.took, run.passed());
}

TEST(LaneTime, APollerThatLocksBytesToLookIsProvedHungAsWell) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
state = open(sys.argv[1] + "/state.lock", "w")
done = False
while not done:
    fcntl.lockf(state, fcntl.LOCK_EX)
    done = os.path.exists(sys.argv[1] + "/done")
    fcntl.lockf(state, fcntl.LOCK_UN)
    time.sleep(0.1)
)");
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("polls for ever: stat done"));
}

// Each holds the lock for an hour of every other one; the file comes after a day of that.
TEST(LaneTime, ThoseWhoTakeTurnsWithALockAreNoHang) {
  LaneRun run = python(R"(
import fcntl, os, sys, time
os.chdir(sys.argv[1])
builder = os.fork()
lock = os.open("lock", os.O_RDWR | os.O_CREAT)
turns = 0
while not os.path.exists("done"):
    fcntl.flock(lock, fcntl.LOCK_EX)
    time.sleep(3600)
    turns += 1
    if builder == 0 and turns == 24: open("done", "w").close()
    fcntl.flock(lock, fcntl.LOCK_UN)
    time.sleep(3600)
if builder == 0: os._exit(0)
os.wait()
print("done")
)");
  run.plan.polls = 40;
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.all(EventKind::hang_proved), IsEmpty());
  EXPECT_EQ(run.first(EventKind::outcome).text, "done");
}

struct Turns {
  const char* name;
  const char* program;
};
class LaneTurns : public ::testing::TestWithParam<Turns> {};

// Each ends by itself, after more rounds than the bound, with no change but of its locks.
TEST_P(LaneTurns, AreNoHang) {
  LaneRun run = python("import fcntl, os, sys, time\nos.chdir(sys.argv[1])\nlock = os.open('lock', os.O_RDWR | os.O_CREAT)\n" +
                       std::string(GetParam().program) + "print('through')\n");
  run.plan.polls = 20;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "through") << run.history.text();
}

INSTANTIATE_TEST_SUITE_P(LaneTime, LaneTurns,
                         ::testing::Values(Turns{"byte_after_byte", R"(
for i in range(60):
    fcntl.lockf(lock, fcntl.LOCK_EX, 1, i + 1)
    if i > 0: fcntl.lockf(lock, fcntl.LOCK_UN, 1, i)
    time.sleep(600)
)"},
                                           Turns{"shared_and_exclusive", R"(
for i in range(60):
    fcntl.flock(lock, fcntl.LOCK_EX if i % 2 else fcntl.LOCK_SH)
    time.sleep(600)
)"},
                                           Turns{"in_turn", R"(
theirs, ours = os.pipe()
if os.fork() == 0:
    lock = os.open('lock', os.O_RDWR)
    for i in range(60):
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(ours, b'x')
        fcntl.flock(lock, fcntl.LOCK_UN)
    os._exit(0)
for i in range(60):
    fcntl.flock(lock, fcntl.LOCK_EX)
    time.sleep(600)
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.read(theirs, 1)
os.wait()
)"}),
                         [](const auto& of) { return of.param.name; });

TEST(LaneTime, AMkdirThatNobodyUndoesIsProvedHung) {
  LaneRun run({subject("mkdir_recipe.sh"), "{cache}"});
  ASSERT_TRUE(make_dirs(run.restored("lock.d")));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("mkdir lock.d"));
  std::printf(
      "from the start of a shell that polls by two programs a look to the proof: %.3f s\n",
      static_cast<double>(run.first(EventKind::hang_proved).stamp - run.first(EventKind::process_started).stamp) / 1e9);
}

// Sleeps of no time are for others to run; a deadline behind them is as far away as it was.
TEST(LaneTime, ManySleepsOfNoTimeTakeNone) {
  LaneRun run({"/usr/bin/python3", "-ISc",
               "import os,sys,time\nc=sys.argv[1]\nend=time.monotonic()+600\n"
               "for i in range(3000): os.path.exists(c+'/out'); time.sleep(0)\n"
               "assert time.monotonic()<end\nopen(c+'/out','w').write('x')", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
}

// A lock that was got and let go of is a turn.
TEST(LaneTime, OneThatLocksForEachOfManyItemsIsNotCalledHung) {
  LaneRun locks({"/usr/bin/python3", "-ISc",
                 "import os,sys,time\nc=sys.argv[1]\nfor i in range(1500):\n os.mkdir(c+'/lock'); os.rmdir(c+'/lock'); time.sleep(10)", "{cache}"});
  ASSERT_TRUE(locks.run());
  EXPECT_THAT(locks.outcomes(), ElementsAre(Outcome::served));
  LaneRun links({"/usr/bin/python3", "-ISc",
                 "import os,sys,time\nc=sys.argv[1]\nopen(c+'/state','w').close()\n"
                 "for i in range(1500):\n os.link(c+'/state',c+'/mine')\n with open(c+'/mine','a') as f: f.write('x')\n"
                 " os.unlink(c+'/mine'); time.sleep(10)", "{cache}"});
  ASSERT_TRUE(links.run());
  EXPECT_THAT(links.outcomes(), ElementsAre(Outcome::served));
}

// Each try makes a file and takes it away; nothing is another after it.
TEST(LaneTime, APollerThatLinksItsOwnFileToTheLockIsProved) {
  LaneRun run({"/usr/bin/python3", "-ISc",
               "import os,sys,time\nc=sys.argv[1]\nopen(c+'/lock','w').close()\n"
               "while True:\n t=c+'/lk.%d'%os.getpid(); open(t,'w').write('me')\n"
               " try: os.link(t,c+'/lock'); break\n"
               " except FileExistsError: os.unlink(t); time.sleep(1)", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
}

// One that leaves something each time is at work, however little.
TEST(LaneTime, OneThatWritesAtEachTurnIsNotCalledHung) {
  LaneRun run({"/usr/bin/python3", "-ISc",
               "import os,sys,time\nc=sys.argv[1]\nfor i in range(3000):\n with open(c+'/log','a') as f: f.write('x')\n time.sleep(10)", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served));
}

TEST(LaneTime, AFifoOfTheCacheIsNobodyElses) {
  LaneRun reads({"/bin/sh", "-c", "mkfifo \"$0/f\"; cat \"$0/f\"", "{cache}"});
  ASSERT_TRUE(reads.run());
  EXPECT_THAT(reads.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(reads.first(EventKind::hang_proved).text, HasSubstr("open f; proved: nobody can move"));
  EXPECT_EQ(reads.passed(), 0);
}

TEST(LaneTime, ALockOfAnotherOpenFileOfItsOwnIsProved) {
  LaneRun run({"/usr/bin/python3", "-ISc",
               "import fcntl,struct,sys\nl=struct.pack('hhqqi4x',fcntl.F_WRLCK,0,0,0,0)\n"
               "a=open(sys.argv[1]+'/l','w+'); b=open(sys.argv[1]+'/l','w+')\nfcntl.fcntl(a,37,l); fcntl.fcntl(b,38,l)", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung)) << run.history.text();
  EXPECT_EQ(run.passed(), 0);
}

TEST(LaneTime, OneThatIsStoppedForEverIsProved) {
  LaneRun run({"/bin/sh", "-c", "mkdir \"$0/d\"; kill -STOP $$", "{cache}"});
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("is stopped by a signal, and nobody continues it"));
}

}  // namespace
}  // namespace jitrace
