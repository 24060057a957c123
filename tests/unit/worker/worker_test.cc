#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>

#include "process/proc.h"
#include "strategy/layout.h"
#include "unit/worker/worker_bench.h"

namespace jitrace {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(WorkerSpecText, SurvivesTheRoundTrip) {
  WorkerBench bench;
  WorkerSpec spec = bench.spec;
  spec.slot = 5;
  spec.action = "force_rebuild";
  spec.loader.api = LoadApi::symbols_then_module;
  spec.bound_scale = 0.001;
  spec.keys.push_back({"with space=and\\", "/a b.cu", 0xfeedULL});
  spec.seed = 0xffffffffffffffffULL;
  const Result<WorkerSpec> read = WorkerSpec::parse(spec.text());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->text(), spec.text());
  EXPECT_EQ(read->keys[1].kernel, "with space=and\\");
  EXPECT_EQ(read->bound_scale, 0.001);
}

TEST(WorkerSpecText, RefusesAnotherKind) {
  EXPECT_FALSE(WorkerSpec::parse("jitrace plan 1\n"));
  EXPECT_FALSE(WorkerSpec::parse("jitrace worker 1\nboard x\n"));
}

class EveryWorker : public testing::TestWithParam<const char*> {};

TEST_P(EveryWorker, FourOfThemOnTwoKeysAllLoadIntactArtifacts) {
  WorkerBench bench;
  bench.spec.preset = GetParam();
  bench.spec.fake_duration = milliseconds(20);
  bench.spec.keys.push_back(bench.spec.keys[0]);
  bench.spec.keys[1].kernel = "k1";
  std::vector<Process> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(bench.start());
  bench.release();
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(0));
  std::set<Slot> outcomes;
  std::set<std::uint64_t> attempts;
  int loads = 0;
  for (const Event& event : bench.events()) {
    if (event.kind == EventKind::outcome) outcomes.insert(event.slot);
    if (event.kind == EventKind::attempt_begin) {
      EXPECT_TRUE(attempts.insert(event.attempt).second);
      EXPECT_NE(event.attempt, 0u);
    }
    if (event.kind != EventKind::loaded) continue;
    ++loads;
    EXPECT_EQ(event.a, 0) << event.text;
    EXPECT_EQ(event.b & (load_intact | load_right_key | load_right_stamp),
              load_intact | load_right_key | load_right_stamp) << event.slot;
  }
  EXPECT_EQ(outcomes.size(), 4u);
  EXPECT_GE(loads, 8);
}

// A lock promises one build per key; counted by the compilers that ran, since ninja is asked by everybody.
TEST_P(EveryWorker, BuildsAsOftenAsPromised) {
  WorkerBench bench;
  bench.spec.preset = GetParam();
  bench.spec.fake_duration = milliseconds(50);
  std::vector<Process> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(bench.start());
  bench.release();
  for (Process& worker : workers) EXPECT_TRUE(ended(worker).is_exit(0));
  std::set<std::uint64_t> built;
  for (const Event& event : bench.events()) {
    const auto role = static_cast<ToolRole>(event.a);
    if (event.kind == EventKind::tool_begin && role == ToolRole::compiler) built.insert(event.attempt);
  }
  const int promised = find_preset(GetParam())->builds_per_key;
  EXPECT_EQ(built.size(), promised == 0 ? 4u : 1u);
}

INSTANTIATE_TEST_SUITE_P(All, EveryWorker,
                         testing::Values("torch-baton", "torch-flock", "msa-flock", "gptqmodel-flock", "deepgemm",
                                         "deepgemm-flock", "deepgemm-dir", "sound"),
                         [](const testing::TestParamInfo<const char*>& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Worker, ExitsAtAGateWithoutGivingTheBatonBack) {
  WorkerBench bench;
  bench.spec.preset = "torch-baton";
  bench.board.arm(Point::lock_held);
  Process worker = bench.start();
  bench.release();
  bench.wait_for_point(0, Point::lock_held);
  bench.board.order(0, Order::exit_137);
  EXPECT_TRUE(ended(worker).is_exit(137));
  EXPECT_TRUE(exists(bench.spec.cache + "/k0/lock"));
}

TEST(Worker, ExitsInMidCompileAndLeavesTheCompilerBehind) {
  WorkerBench bench;
  bench.spec.preset = "deepgemm";
  bench.board.arm(Point::compile);
  Process worker = bench.start();
  bench.release();
  const Event stage = bench.wait_for_point(driver_slot, Point::compile);
  const Result<Fd> control = open_fd(bench.directory.path() + "/w0.control", O_WRONLY | O_NONBLOCK);
  ASSERT_TRUE(control);
  ASSERT_TRUE(write_all(*control, "x", "control"));
  EXPECT_TRUE(ended(worker).is_exit(137));
  EXPECT_TRUE(proc_stat(static_cast<pid_t>(stage.pid))) << "the compiler went with its builder";
  bench.board.order(stage.slot, Order::go);
  const Event end =
      bench.wait_for([&](const Event& e) { return e.kind == EventKind::tool_end && e.slot == stage.slot; });
  EXPECT_EQ(end.a, 0);
}

TEST(Worker, SoundTakesItsCompilerAlongAndTheNextBuildsAtOnce) {
  WorkerBench bench;
  bench.spec.preset = "sound";
  bench.board.arm(Point::compile);
  Process first = bench.start();
  bench.release();
  const Event stage = bench.wait_for_point(driver_slot, Point::compile);
  bench.board.disarm(Point::compile);
  ASSERT_TRUE(first.signal(SIGKILL));
  EXPECT_TRUE(ended(first).is_kill(SIGKILL));
  bench.board.order(stage.slot, Order::go);
  Process second = bench.start();
  EXPECT_TRUE(ended(second).is_exit(0));
}

TEST(Worker, WaiterOfADeadBatonNeverReturnsAndSaysWhatItWaitsFor) {
  WorkerBench bench;
  bench.spec.preset = "torch-baton";
  ASSERT_TRUE(make_dirs(bench.spec.cache + "/k0"));
  ASSERT_TRUE(write_file(bench.spec.cache + "/k0/lock", ""));
  Process worker = bench.start();
  bench.release();
  const Event wait = bench.wait_for([](const Event& e) { return e.kind == EventKind::waiting; });
  EXPECT_EQ(wait.a, static_cast<std::int64_t>(ConditionKind::absent));
  EXPECT_EQ(wait.b, 0);
  EXPECT_EQ(wait.text, "k0/lock");
  ASSERT_TRUE(remove_file(bench.spec.cache + "/k0/lock"));
  // Somebody removed it by hand: the waiter goes straight to the load of what nobody has built.
  EXPECT_TRUE(ended(worker).is_exit(1));
  const Event outcome = bench.wait_for([](const Event& e) { return e.kind == EventKind::outcome; });
  EXPECT_THAT(outcome.text, HasSubstr("cannot open shared object file"));
}

TEST(Worker, MsaSweepsTheLeftoverBatonWithAWarning) {
  WorkerBench bench;
  bench.spec.preset = "msa-flock";
  ASSERT_TRUE(make_dirs(bench.spec.cache + "/k0"));
  ASSERT_TRUE(write_file(bench.spec.cache + "/k0/lock", ""));
  Process worker = bench.start();
  bench.release();
  EXPECT_TRUE(ended(worker).is_exit(0));
  const Event warning = bench.wait_for([](const Event& e) { return e.kind == EventKind::warned; });
  EXPECT_THAT(warning.text, testing::StartsWith("Removing a stale torch extension lock"));
  EXPECT_FALSE(exists(bench.spec.cache + "/k0/lock"));
}

TEST(Worker, GptqmodelFallsBackAtItsBoundWhileTheHolderLives) {
  WorkerBench bench;
  bench.spec.preset = "gptqmodel-flock";
  bench.spec.bound_scale = 0.0005;  // 600 s become 0.3 s
  bench.board.arm(Point::lock_held);
  Process holder = bench.start();
  bench.release();
  bench.wait_for_point(0, Point::lock_held);
  bench.board.disarm(Point::lock_held);
  Process waiter = bench.start();
  EXPECT_TRUE(ended(waiter).is_exit(0));
  const Event outcome = bench.wait_for([](const Event& e) { return e.kind == EventKind::outcome; });
  EXPECT_EQ(outcome.a, static_cast<std::int64_t>(Outcome::fell_back));
  EXPECT_EQ(outcome.text, "timed out after 0.3s waiting for the cross-process JIT build lock");
  bench.board.order(0, Order::go);
  EXPECT_TRUE(ended(holder).is_exit(0));
}

TEST(Worker, KilledHolderOfAFlockLetsTheNextIn) {
  WorkerBench bench;
  bench.spec.preset = "torch-flock";
  bench.board.arm(Point::lock_held);
  Process holder = bench.start();
  bench.release();
  bench.wait_for_point(0, Point::lock_held);
  bench.board.disarm(Point::lock_held);
  Process waiter = bench.start();
  const Event wait = bench.wait_for([](const Event& e) { return e.kind == EventKind::waiting && e.slot == 1; });
  EXPECT_EQ(wait.a, static_cast<std::int64_t>(ConditionKind::flock));
  EXPECT_NE(wait.attempt, 0u) << "the inode of the lock";
  ASSERT_TRUE(holder.signal(SIGKILL));
  EXPECT_TRUE(ended(waiter).is_exit(0));
}

TEST(Worker, NeedsLittleMemoryOfItsOwn) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory";
#endif
  WorkerBench bench;
  bench.board.arm(Point::load);
  Process worker = bench.start();
  bench.release();
  bench.wait_for_point(0, Point::load);
  const Result<std::string> smaps = read_file("/proc/" + std::to_string(worker.pid()) + "/smaps_rollup");
  ASSERT_TRUE(smaps);
  long kilobytes = 0;
  for (const char* field : {"Private_Clean:", "Private_Dirty:"}) {
    const std::size_t at = smaps->find(field);
    ASSERT_NE(at, std::string::npos);
    kilobytes += std::strtol(smaps->c_str() + at + std::strlen(field), nullptr, 10);
  }
  EXPECT_LE(kilobytes, 3 * 1024);
  RecordProperty("private_kb", std::to_string(kilobytes));
  bench.board.order(0, Order::go);
  EXPECT_TRUE(ended(worker).is_exit(0));
}

}  // namespace
}  // namespace jitrace
