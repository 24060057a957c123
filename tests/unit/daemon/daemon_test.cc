#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <csignal>
#include <regex>
#include <set>

#include "process/proc.h"
#include "strategy/daemon_wire.h"
#include "strategy/layout.h"
#include "unit/worker/worker_bench.h"

namespace jitrace {
namespace {

using testing::HasSubstr;

// Workers and whatever server they start; the server is ended with the test.
class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    bench_.spec.preset = "daemon";
    bench_.spec.bound_scale = 0.1;  // a minute
  }
  ~DaemonTest() override {
    for (const Event& event : bench_.events()) {
      if (is_daemon(event)) end_process(static_cast<pid_t>(event.pid), SIGKILL);
    }
  }

  static bool is_daemon(const Event& event) {
    return event.kind == EventKind::tool_begin && event.a == static_cast<std::int64_t>(ToolRole::daemon);
  }
  static void end_process(pid_t pid, int number) {
    if (const Result<Fd> pidfd = open_pidfd(pid)) [[maybe_unused]]
      const Result<void> sent = send_signal(*pidfd, number);
  }
  // The n-th server to start.
  pid_t server(int n = 1) {
    int seen = 0;
    const Event event = bench_.wait_for([&](const Event& e) { return is_daemon(e) && ++seen == n; });
    EXPECT_EQ(event.kind, EventKind::tool_begin) << "no server came";
    return static_cast<pid_t>(event.pid);
  }
  int count(EventKind kind) {
    int n = 0;
    for (const Event& event : bench_.events()) n += event.kind == kind ? 1 : 0;
    return n;
  }
  std::set<std::uint64_t> compiled() {
    std::set<std::uint64_t> attempts;
    for (const Event& event : bench_.events()) {
      const bool compiler = event.a == static_cast<std::int64_t>(ToolRole::compiler);
      if (event.kind == EventKind::tool_begin && compiler) attempts.insert(event.attempt);
    }
    return attempts;
  }
  void expect_good_loads(int n) {
    int good = 0;
    for (const Event& event : bench_.events()) {
      if (event.kind != EventKind::loaded) continue;
      EXPECT_EQ(event.a, 0) << event.text;
      EXPECT_EQ(event.b & 7, load_intact | load_right_key | load_right_stamp);
      ++good;
    }
    EXPECT_EQ(good, n);
  }

  WorkerBench bench_;
};

TEST_F(DaemonTest, OneServerBuildsEachKeyOnceForAll) {
  bench_.spec.fake_duration = milliseconds(50);
  bench_.spec.keys.push_back(bench_.spec.keys[0]);
  bench_.spec.keys[1].kernel = "k1";
  std::vector<Process> workers;
  for (int i = 0; i < 8; ++i) workers.push_back(bench_.start());
  bench_.release();
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(0));
  expect_good_loads(16);
  EXPECT_EQ(compiled().size(), 2u);
  int servers = 0;
  for (const Event& event : bench_.events()) servers += is_daemon(event) ? 1 : 0;
  EXPECT_EQ(servers, 1);
  EXPECT_TRUE(proc_stat(server())) << "the server stays for the next round";
}

// The step list of subjects.md 17, seen from both sides.
TEST_F(DaemonTest, ClientAsksAndServerBuildsStepByStep) {
  bench_.spec.gets = 2;
  Process worker = bench_.start();
  bench_.release();
  EXPECT_TRUE(ended(worker).is_exit(0));
  const std::regex names("tmp/[-.0-9a-z]+|\\.[0-9a-f]{16}|daemon\\.[^ ]+\\.sock");
  std::vector<std::string> client;
  std::vector<std::string> builder;
  std::set<std::string> passed;
  for (const Event& event : bench_.events()) {
    const bool from_worker = event.slot == 0;
    if (event.kind == EventKind::reached) passed.insert(std::string(name_of(event.point)));
    std::string line;
    if (event.kind == EventKind::reached) line = "@" + std::string(name_of(event.point));
    if (event.kind == EventKind::file_op) line = std::regex_replace(event.text, names, "*");
    if (event.kind == EventKind::file_op && event.a != 0) line += " !" + std::to_string(event.a);
    if (event.kind == EventKind::waiting && from_worker)
      line = "wait " + std::string(name_of(static_cast<ConditionKind>(event.a)));
    if (event.kind == EventKind::get_end) line = "end";
    const bool compiler =
        event.kind == EventKind::reached && (event.point == Point::compile || event.point == Point::output);
    if (!line.empty() && !compiler) (from_worker ? client : builder).push_back(line);
  }
  EXPECT_THAT(client, testing::ElementsAre("@probe", "read entries/k0*/manifest !2", "stat entries/k0* !2",
                                           "connect * !2", "wait reply", "flock daemon.lock", "request *", "wait reply",
                                           "read entries/k0*/manifest", "read entries/k0*/kernel.cu",
                                           "read entries/k0*/kernel.cubin", "@load", "end", "end"));
  EXPECT_THAT(builder, testing::ElementsAre("read entries/k0*/manifest !2", "stat entries/k0* !2", "@make_dir",
                                            "mkdir *", "@write_source", "write */kernel.cu", "@spawn",
                                            "read */kernel.cubin", "@publish_meta", "write */manifest", "@sync",
                                            "fsync */kernel.cu", "fsync */kernel.cubin", "fsync */manifest", "fsync *",
                                            "mkdir entries", "@publish", "rename * entries/k0*", "list tmp"));
  for (const Point point : find_preset("daemon")->points)
    EXPECT_TRUE(passed.contains(std::string(name_of(point)))) << name_of(point);
}

TEST_F(DaemonTest, ServerLeavesWhenItsCacheIsWiped) {
  Process worker = bench_.start();
  bench_.release();
  EXPECT_TRUE(ended(worker).is_exit(0));
  const pid_t pid = server();
  ASSERT_TRUE(remove_tree(bench_.spec.cache));
  const Nanoseconds end = now() + seconds(60);
  while (proc_stat(pid) && proc_stat(pid)->state != 'Z' && now() < end) bench_.events();
  EXPECT_FALSE(proc_stat(pid) && proc_stat(pid)->state != 'Z');
}

TEST_F(DaemonTest, ServerHoldsItsLockAloneAndItsCompilersDoNot) {
  bench_.board.arm(Point::compile);
  Process worker = bench_.start();
  bench_.release();
  const Event stage = bench_.wait_for_point(driver_slot, Point::compile);
  const std::string path = daemon_lock_path(bench_.spec.cache);
  const Result<Fd> lock = open_fd(path, O_RDWR);
  ASSERT_TRUE(lock);
  EXPECT_NE(::flock(lock->get(), LOCK_EX | LOCK_NB), 0);
  for (const std::string& line : proc_descriptors(static_cast<pid_t>(stage.pid)))
    EXPECT_THAT(line, testing::Not(HasSubstr(path)));
  int copies = 0;
  for (const std::string& line : proc_descriptors(server())) copies += line.find(path) != std::string::npos ? 1 : 0;
  EXPECT_EQ(copies, 1);
  bench_.board.order(stage.slot, Order::go);
  EXPECT_TRUE(ended(worker).is_exit(0));
}

TEST_F(DaemonTest, KilledServerIsReplacedUnderTheLockAndEverybodyIsServed) {
  bench_.board.arm(Point::compile);
  std::vector<Process> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(bench_.start());
  bench_.release();
  const Event stage = bench_.wait_for_point(driver_slot, Point::compile);
  bench_.board.disarm(Point::compile);
  end_process(server(1), SIGKILL);
  bench_.board.order(stage.slot, Order::go);
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(0));
  expect_good_loads(4);
  EXPECT_TRUE(proc_stat(server(2)));
  EXPECT_EQ(compiled().size(), 2u);
}

TEST_F(DaemonTest, ClientThatLosesTwoServersBuildsForItself) {
  bench_.board.arm(Point::spawn);
  Process worker = bench_.start();
  bench_.release();
  for (int n = 1; n <= 2; ++n) {
    const pid_t pid = server(n);
    bench_.wait_for([&](const Event& e) {
      return e.kind == EventKind::reached && e.point == Point::spawn && static_cast<pid_t>(e.pid) == pid;
    });
    if (n == 2) bench_.board.disarm(Point::spawn);
    end_process(pid, SIGKILL);
  }
  EXPECT_TRUE(ended(worker).is_exit(0));
  const Event outcome = bench_.wait_for([](const Event& e) { return e.kind == EventKind::outcome; });
  EXPECT_EQ(outcome.a, static_cast<std::int64_t>(Outcome::built));
  expect_good_loads(1);
}

TEST_F(DaemonTest, StoppedServerIsGivenUpInBoundedTime) {
  bench_.spec.bound_scale = 0.0001;  // the floor of one second counts
  bench_.board.arm(Point::compile);
  Process worker = bench_.start();
  bench_.release();
  const Event stage = bench_.wait_for_point(driver_slot, Point::compile);
  bench_.board.disarm(Point::compile);
  end_process(server(), SIGSTOP);
  const Nanoseconds begin = now();
  EXPECT_TRUE(ended(worker).is_exit(0));
  EXPECT_LT(now() - begin, seconds(60));
  bench_.board.order(stage.slot, Order::go);
  const Event wait = bench_.wait_for([](const Event& e) { return e.kind == EventKind::waiting && e.slot == 0; });
  EXPECT_EQ(wait.a, static_cast<std::int64_t>(ConditionKind::reply));
  EXPECT_GT(wait.b, 0);
}

TEST_F(DaemonTest, SlowBuildIsWaitedForPastTheBound) {
  bench_.spec.bound_scale = 0.0001;  // the floor of one second counts
  bench_.spec.fake_duration = milliseconds(2500);
  Process worker = bench_.start();
  bench_.release();
  EXPECT_TRUE(ended(worker).is_exit(0));
  const Event outcome = bench_.wait_for([](const Event& e) { return e.kind == EventKind::outcome; });
  EXPECT_EQ(outcome.a, static_cast<std::int64_t>(Outcome::served));
  EXPECT_EQ(compiled().size(), 1u);
}

TEST_F(DaemonTest, ClientsDeathTakesNothingAlong) {
  bench_.board.arm(Point::compile);
  Process worker = bench_.start();
  bench_.release();
  const Event stage = bench_.wait_for_point(driver_slot, Point::compile);
  ASSERT_TRUE(worker.signal(SIGKILL));
  EXPECT_TRUE(ended(worker).is_kill(SIGKILL));
  bench_.board.order(stage.slot, Order::go);
  const Preset& preset = *find_preset("daemon");
  const Layout layout = layout_of(preset, bench_.spec.cache, "k0", "sm_90a", ToolchainKind::fake);
  const Nanoseconds end = now() + seconds(60);
  while (!exists(layout.entry) && now() < end) bench_.events();
  EXPECT_TRUE(exists(layout.artifact));
}

TEST_F(DaemonTest, KilledCompilerIsTriedAgain) {
  bench_.board.arm(Point::compile);
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(bench_.start());
  bench_.release();
  const Event stage = bench_.wait_for_point(driver_slot, Point::compile);
  bench_.board.disarm(Point::compile);
  end_process(static_cast<pid_t>(stage.pid), SIGKILL);
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(0));
  expect_good_loads(3);
  EXPECT_EQ(compiled().size(), 2u);
}

TEST_F(DaemonTest, CompilerErrorReachesEveryClient) {
  ASSERT_TRUE(write_file(bench_.spec.keys[0].source, "#error no such thing\n"));
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(bench_.start());
  bench_.release();
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(1));
  int told = 0;
  for (const Event& event : bench_.events()) {
    if (event.kind == EventKind::outcome && event.text.find("#error no such thing") != std::string::npos) ++told;
  }
  EXPECT_EQ(told, 3);
}

TEST_F(DaemonTest, WarmCacheNeedsNoServer) {
  Process first = bench_.start();
  bench_.release();
  EXPECT_TRUE(ended(first).is_exit(0));
  end_process(server(1), SIGKILL);
  Process second = bench_.start();
  EXPECT_TRUE(ended(second).is_exit(0));
  int servers = 0;
  for (const Event& event : bench_.events()) servers += is_daemon(event) ? 1 : 0;
  EXPECT_EQ(servers, 1);
  EXPECT_EQ(count(EventKind::served_request), 1);
}

}  // namespace
}  // namespace jitrace
