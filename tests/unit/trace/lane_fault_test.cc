// Faults beside the plain kill: one who waits already, signals that can be caught, cut writes, answers that are errors.
#include <signal.h>

#include <cerrno>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

std::vector<std::string> shell(const std::string& line) { return {"/bin/sh", "-c", line, "{cache}", "{worker}"}; }

// A lock that dies with its holder, then a build.
constexpr const char* flock_line = "cd \"$0\"; exec 9>lock; flock 9; [ -e made ] || { : >made.tmp; mv made.tmp made; }; cat made";
constexpr const char* mkdir_line = "cd \"$0\"; until mkdir lock 2>/dev/null; do sleep 0.1; done; [ -e made ] || : >made; rmdir lock";

LaneRun& kill_at(LaneRun& run, const std::string& role, const std::string& what, int occurrence = 1) {
  run.plan.work = TraceWork::kill;
  run.plan.step = StepName{role, what, occurrence, Side::after};
  return run;
}

// By round.
std::map<int, Outcome> by_round(const LaneRun& run) {
  std::map<int, Outcome> out;
  for (const Event& event : run.all(EventKind::outcome)) out[event.key] = static_cast<Outcome>(event.a);
  return out;
}

TEST(LaneWaiter, OneThatWaitsForAFlockGetsItFromTheDead) {
  LaneRun run(shell(flock_line));
  kill_at(run, "A", "open made.tmp O_WRONLY|O_CREAT|O_TRUNC").plan.waiters = 1;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(by_round(run), (std::map<int, Outcome>{{1, Outcome::killed_by_plan}, {2, Outcome::served}})) << run.history.text();
  ASSERT_FALSE(run.all(EventKind::parked).empty());
  EXPECT_LT(run.first(EventKind::parked).stamp, run.first(EventKind::fault_fired).stamp);
}

TEST(LaneWaiter, OneThatPollsForABatonHangs) {
  LaneRun run(shell(mkdir_line));
  kill_at(run, "A", "open made O_WRONLY|O_CREAT|O_TRUNC").plan.waiters = 1;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(by_round(run).at(2), Outcome::hung) << run.history.text();
  EXPECT_LT(run.first(EventKind::round_begin).stamp, run.first(EventKind::fault_fired).stamp);
  EXPECT_EQ(run.all(EventKind::fault_fired).size(), 1u);
}

TEST(LaneWaiter, NoTimePassesForOneThatIsLimited) {
  LaneRun run(shell("cd \"$0\"; exec 9>lock; flock -w 5 9 || exit 3; [ -e made ] || : >made"));
  kill_at(run, "A", "open made O_WRONLY|O_CREAT|O_TRUNC").plan.waiters = 1;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(by_round(run).at(2), Outcome::served) << run.history.text();
  EXPECT_LT(run.passed(), seconds(5));
}

TEST(LaneWaiter, OneThatDoesNotWaitIsThroughBeforeTheKill) {
  LaneRun run(shell("cd \"$0\"; [ -e made ] || : >made.$1; mv made.$1 made"));
  kill_at(run, "A", "open made.0 O_WRONLY|O_CREAT|O_TRUNC").plan.waiters = 1;
  ASSERT_TRUE(run.run());
  const auto outcomes = run.all(EventKind::outcome);
  ASSERT_EQ(outcomes.size(), 3u) << run.history.text();
  // What came after the kill is a third one's to say.
  EXPECT_EQ(outcomes[0].key, 2u);
  EXPECT_LT(outcomes[0].stamp, run.first(EventKind::fault_fired).stamp);
  EXPECT_EQ(outcomes[2].key, 3u);
}

TEST(LaneWaiter, OrphansGoFirstOrAreHeldBesideIt) {
  for (const OrphanOrder order : {OrphanOrder::first, OrphanOrder::held}) {
    LaneRun run(shell("cd \"$0\"; exec 9>lock; flock 9; [ \"$1\" = 0 ] && { sh -c 'echo a >f; echo b >>f' 9>&-; :; }; cat f"));
    kill_at(run, "A/sh", "write f").plan.waiters = 1;
    run.plan.who = Victim::builder;
    run.plan.order = order;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(by_round(run).at(2), Outcome::served) << run.history.text();
    // What the waiter printed last is what it found.
    for (const Event& event : run.all(EventKind::outcome)) {
      if (event.key != 2) continue;
      EXPECT_EQ(event.text, order == OrphanOrder::first ? "b" : "a") << run.history.text();
    }
    EXPECT_EQ(read_file(run.in_cache("f")).value(), "a\nb\n");
  }
}

TEST(LaneSignal, OneThatCleansUpLeavesNothingAndOneThatCannotLeavesAll) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    LaneRun run({"/bin/bash", "-c",
                 "cd \"$0\"; until mkdir lock 2>/dev/null; do sleep 0.1; done; trap 'rmdir lock' EXIT; [ -e made ] || : >made",
                 "{cache}"});
    kill_at(run, "A", "open made O_WRONLY|O_CREAT|O_TRUNC").plan.signal = signal;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(by_round(run).at(2), signal == SIGTERM ? Outcome::served : Outcome::hung) << run.history.text();
    EXPECT_THAT(run.first(EventKind::fault_fired).text, HasSubstr(signal == SIGTERM ? "SIGTERM" : "SIGKILL"));
  }
}

TEST(LaneSignal, OneThatIgnoresItGoesOnAndOneThatThenHangsIsEnded) {
  LaneRun on(shell("trap '' TERM; cd \"$0\"; : >made; : >more"));
  kill_at(on, "A", "open made O_WRONLY|O_CREAT|O_TRUNC").plan.signal = SIGTERM;
  ASSERT_TRUE(on.run());
  EXPECT_TRUE(std::filesystem::exists(on.in_cache("more")));
  EXPECT_EQ(by_round(on).at(2), Outcome::served);
  LaneRun hangs(shell("cd \"$0\"; [ \"$1\" = 0 ] || exit 0; trap '' TERM; : >made; while [ -e made ]; do sleep 1; done"));
  kill_at(hangs, "A", "open made O_WRONLY|O_CREAT|O_TRUNC").plan.signal = SIGTERM;
  hangs.plan.polls = 100;
  ASSERT_TRUE(hangs.run());
  EXPECT_EQ(by_round(hangs).at(2), Outcome::served) << hangs.history.text();
}

TEST(LaneCut, AWriteStopsInItsMiddleOrBeforeItsLastByte) {
  for (const Cut cut : {Cut::half, Cut::all_but_one}) {
    LaneRun run(shell("cd \"$0\"; [ -e f ] || printf 123456 >f; cat f"));
    kill_at(run, "A", "write f").plan.cut = cut;
    ASSERT_TRUE(run.run());
    EXPECT_EQ(read_file(run.in_cache("f")).value(), cut == Cut::half ? "123" : "12345");
    EXPECT_THAT(run.first(EventKind::fault_fired).text, HasSubstr(cut == Cut::half ? "cut to half" : "cut to all-but-one"));
  }
}

LaneRun& answer_at(LaneRun& run, const std::string& what, Reply reply, int error) {
  run.plan.work = TraceWork::answer;
  run.plan.step = StepName{"A", what, 1, Side::after};
  run.plan.reply = reply;
  run.plan.error = error;
  return run;
}

TEST(LaneAnswer, AFullDiskFailsTheOneAndNotTheNext) {
  LaneRun run(shell("cd \"$0\"; [ -e f ] || { printf x >f || { rm f; exit 4; }; }"));
  answer_at(run, "write f", Reply::refused, ENOSPC);
  ASSERT_TRUE(run.run());
  EXPECT_EQ(by_round(run), (std::map<int, Outcome>{{1, Outcome::failed}, {2, Outcome::served}})) << run.history.text();
  EXPECT_THAT(run.first(EventKind::fault_fired).text, HasSubstr("answered ENOSPC: after A: write f"));
}

TEST(LaneAnswer, ALostReplyToMkdirLocksItsMakerOut) {
  LaneRun run({"/usr/bin/python3", "-c",
               "import os, sys, time\n"
               "lock = sys.argv[1] + '/lock'\n"
               "while True:\n"
               "  try: os.mkdir(lock); break\n"
               "  except FileExistsError: time.sleep(1)\n"
               "os.rmdir(lock)\n",
               "{cache}"});
  answer_at(run, "mkdir lock", Reply::lost, EEXIST);
  run.plan.polls = 100;
  ASSERT_TRUE(run.run());
  EXPECT_EQ(by_round(run).at(1), Outcome::hung) << run.history.text();
  EXPECT_EQ(by_round(run).at(2), Outcome::hung);
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("lock was made by itself"));
}

TEST(LaneAnswer, AStepThatNobodyComesToIsMissed) {
  LaneRun run(shell("cd \"$0\"; : >f"));
  answer_at(run, "mkdir nothing", Reply::refused, EIO);
  ASSERT_TRUE(run.run());
  EXPECT_EQ(run.all(EventKind::fault_missed).size(), 1u);
  EXPECT_THAT(run.all(EventKind::fault_fired), IsEmpty());
}

}  // namespace
}  // namespace jitrace
