// Who polls without a pause never stands still, and is told from who works by asking for nothing new.
#include <cstdio>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

TEST(LaneSpin, APollerThatNeverPausesIsProvedHung) {
  LaneRun run = python("import os, sys\nwhile os.path.exists(sys.argv[1] + '/lock'): pass");
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  const Event proof = run.first(EventKind::hang_proved);
  EXPECT_THAT(proof.text, HasSubstr("polls for ever: stat lock"));
  std::printf("from the start of a poller without a pause to the proof: %.3f s\n",
              static_cast<double>(proof.stamp - run.first(EventKind::process_started).stamp) / 1e9);
}

TEST(LaneSpin, APollerByProgramsThatNeverPausesIsProvedHung) {
  LaneRun run({"/bin/sh", "-c", "until mkdir \"$0/lock.d\" 2>/dev/null; do :; done", "{cache}"});
  ASSERT_TRUE(make_dirs(run.restored("lock.d")));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::hung));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("polls for ever: mkdir lock.d"));
}

TEST(LaneSpin, PollersThatNeverPauseAreProvedHungTogether) {
  LaneRun run = python(R"(
import fcntl, os, sys
cache = sys.argv[1]
held = os.open(cache + "/lock", os.O_RDWR)
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    while not os.path.exists(cache + "/done"): pass
if os.fork() == 0:
    held = os.open(cache + "/lock", os.O_RDWR)
    while True:
        try: fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError: continue
        print("taken")
        break
while True:
    try: os.link(cache + "/lock", cache + "/taken")
    except FileExistsError: pass
)");
  ASSERT_TRUE(write_file(run.restored("taken"), ""));
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), Each(Outcome::hung)) << run.first(EventKind::outcome).text;
}

// Its own file for each try, which it takes away again.
TEST(LaneSpin, APollerThatNeverPausesAndLinksItsOwnFileIsProvedHung) {
  LaneRun run = python("import os, sys\nc = sys.argv[1]\nmine = c + '/mine'\n"
                       "while True:\n open(mine, 'w').write('me')\n"
                       " try: os.link(mine, c + '/lock'); break\n except FileExistsError: os.unlink(mine)");
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), Each(Outcome::hung)) << run.first(EventKind::outcome).text;
}

TEST(LaneSpin, APollerThatNeverPausesAndLocksToLookIsProvedHung) {
  LaneRun run = python("import fcntl, os, sys\nstate = os.open(sys.argv[1] + '/state.lock', os.O_RDWR | os.O_CREAT)\ndone = False\n"
                       "while not done:\n fcntl.flock(state, fcntl.LOCK_EX)\n done = os.path.exists(sys.argv[1] + '/done')\n"
                       " fcntl.flock(state, fcntl.LOCK_UN)");
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), Each(Outcome::hung)) << run.first(EventKind::outcome).text;
}

// By the clock that it reads itself.
TEST(LaneSpin, APollerWithALimitThatNeverPausesEndsAsItsLimit) {
  LaneRun run = python("import os, sys, time\nend = time.monotonic() + 600\n"
                       "while os.path.exists(sys.argv[1] + '/lock') and time.monotonic() < end: pass\n"
                       "print('gave up' if time.monotonic() < end + 1200 else 'late')");
  ASSERT_TRUE(write_file(run.restored("lock"), ""));
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.all(EventKind::hang_proved), IsEmpty());
  EXPECT_EQ(run.first(EventKind::outcome).text, "gave up");
  EXPECT_LT(run.took, run.passed());
}

// Many looks are not yet too many.
TEST(LaneSpin, ALoopOfFortyThousandLooksEndsByItsCount) {
  LaneRun run = python("import os, sys\nfor i in range(40000): os.path.exists(sys.argv[1] + '/stop')\nprint('all of them')");
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "all of them");
  EXPECT_EQ(run.passed(), 0);
}

// Whoever sleeps meanwhile does not wait in the machine's time; whoever works does.
TEST(LaneSpin, WhatAPollerThatNeverPausesWaitsForIsAwaited) {
  for (const char* const work : {"time.sleep(600)", "for i in range(20000000): pass", "subprocess.run(['sleep', '600'])"}) {
    LaneRun run = python("import os, subprocess, sys, time\ndone = sys.argv[1] + '/done'\n"
                         "if os.fork() == 0:\n " + std::string(work) + "\n open(done, 'w').close()\n os._exit(0)\n"
                         "while not os.path.exists(done): pass\nprint('built')");
    ASSERT_TRUE(run.run());
    EXPECT_THAT(run.all(EventKind::hang_proved), IsEmpty()) << work;
    EXPECT_EQ(run.first(EventKind::outcome).text, "built") << work;
    const bool sleeps = std::string(work).find("600") != std::string::npos;
    EXPECT_EQ(run.passed() >= seconds(600), sleeps) << work;
  }
}

// Work by many short programs, none of which looks at the cache or runs for long.
TEST(LaneSpin, AShellThatWorksBesideAPollerThatNeverPausesIsAwaited) {
  LaneRun run({"/bin/sh", "-c",
               "(i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done; : > \"$0/done\") & "
               "until [ -e \"$0/done\" ]; do :; done; echo built",
               "{cache}"});
  run.plan.polls = 10;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.first(EventKind::outcome).text, "built");
}

}  // namespace
}  // namespace jitrace
