// Whole trials on the fake compiler: real processes, real locks, real kills.

#include "trial/trial.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/file.h"
#include "base/temp_dir.h"
#include "process/proc.h"
#include "verdict/trial_verdict.h"

namespace jitrace {
namespace {

class TrialTest : public testing::Test {
 protected:
  void SetUp() override {
    auto directory = TempDir::create(testing::TempDir(), "jitrace-trial-");
    ASSERT_TRUE(directory);
    directory_.emplace(std::move(*directory));
    setup_.libexec = JITRACE_LIBEXEC;
    setup_.run_dir = directory_->path();
    setup_.kernel_dir = JITRACE_SOURCE_DIR "/scenarios/kernels";
    setup_.cache_roots = {join(directory_->path(), "cache")};
    setup_.run_id = "test";
    auto guard = Guard::start(join(setup_.libexec, "guard"));
    ASSERT_TRUE(guard) << guard.error().message();
    lane_.emplace(Lane{0, std::move(*guard), 0});
    interrupt_ = Fd(::eventfd(0, EFD_CLOEXEC));
  }

  Plan plan(const std::string& preset) {
    Plan plan;
    plan.scenario = "test";
    plan.cell = preset;
    plan.trial = 1;
    plan.seed = 7;
    plan.subject = preset;
    plan.cause = "none";
    plan.toolchain = "fake";
    plan.arch = "sm_90a";
    plan.loader = "fake";
    plan.load_api = "library";
    plan.device = "sm_90a";
    plan.kernels = {"axpy"};
    plan.workers.assign(4, WorkerPlan{preset, 0, "get"});
    plan.watchdog = seconds(30);
    return plan;
  }

  static FaultPlan kill_at(Point point) {
    FaultPlan fault;
    fault.point = point;
    fault.signal = SIGKILL;
    return fault;
  }

  TrialResult run(const Plan& plan) {
    ToolchainSearch search;
    search.libexec = setup_.libexec;
    for (const ToolchainProbe& probe : find_toolchains(search)) {
      if (probe.toolchain && probe.toolchain->name == plan.toolchain) {
        const auto ready = make_ready(setup_, plan, *probe.toolchain);
        EXPECT_TRUE(ready) << ready.error().message();
      }
    }
    auto result = run_trial(plan, setup_, *lane_, interrupt_);
    EXPECT_TRUE(result) << result.error().message();
    if (!result) return {};
    EXPECT_EQ(result->history.failure, "");
    EXPECT_TRUE(lane_->guard.descendants().empty());
    return std::move(*result);
  }

  static int count(const History& history, EventKind kind) {
    return static_cast<int>(std::count_if(history.events.begin(), history.events.end(),
                                          [kind](const Event& event) { return event.kind == kind; }));
  }

  std::optional<TempDir> directory_;
  jitrace::Setup setup_;  // testing::Test has a Setup of its own
  std::optional<Lane> lane_;
  Fd interrupt_;
};

int of(const TrialVerdict& verdict, const std::string& outcome) {
  const auto found = verdict.outcomes.find(outcome);
  return found == verdict.outcomes.end() ? 0 : found->second;
}

bool shows(const TrialVerdict& verdict, FindingClass kind) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [kind](const Finding& finding) { return finding.kind == kind; });
}

std::string dump(const History& history) {
  std::string text;
  for (const Event& event : history.events) {
    text += std::to_string(event.stamp) + " " + std::string(name_of(event.kind)) + " " + std::string(name_of(event.point)) + " slot " +
            std::to_string(event.slot) + " a=" + std::to_string(event.a) + " " + event.text + "\n";
  }
  return text;
}

TEST_F(TrialTest, WithoutAFaultOneBuildsAndTheOthersAreServed) {
  for (const std::string preset : {"torch-baton", "torch-flock", "msa-flock", "sound"}) {
    const Plan p = plan(preset);
    const TrialResult result = run(p);
    const TrialVerdict verdict = judge(p, result.history);
    EXPECT_EQ(verdict.inconclusive, "") << preset;
    EXPECT_TRUE(verdict.findings.empty()) << preset << ": " << (verdict.findings.empty() ? "" : name_of(verdict.findings[0].kind));
    EXPECT_EQ(of(verdict, "built"), 1) << preset << "\n" << dump(result.history);
    EXPECT_EQ(of(verdict, "served"), 3) << preset;
    EXPECT_TRUE(verdict.recovered) << preset;
  }
}

TEST_F(TrialTest, ABatonWhoseBuilderIsKilledHangsAndStaysWedged) {
  Plan p = plan("torch-baton");
  p.rounds = 2;
  p.faults = {kill_at(Point::compile)};
  const TrialResult result = run(p);
  const TrialVerdict verdict = judge(p, result.history);
  EXPECT_EQ(verdict.inconclusive, "") << dump(result.history);
  EXPECT_EQ(verdict.faults_fired, 1);
  EXPECT_TRUE(shows(verdict, FindingClass::hang)) << dump(result.history);
  EXPECT_TRUE(shows(verdict, FindingClass::wedged));
  EXPECT_FALSE(verdict.recovered);
  EXPECT_EQ(count(result.history, EventKind::hang_proved), 3 + 4);
}

TEST_F(TrialTest, AFlockWhoseBuilderIsKilledRecovers) {
  for (const std::string preset : {"torch-flock", "sound"}) {
    Plan p = plan(preset);
    p.faults = {kill_at(Point::compile)};
    const TrialResult result = run(p);
    const TrialVerdict verdict = judge(p, result.history);
    EXPECT_EQ(verdict.inconclusive, "") << preset << "\n" << dump(result.history);
    EXPECT_EQ(verdict.faults_fired, 1);
    EXPECT_FALSE(shows(verdict, FindingClass::hang));
    EXPECT_TRUE(verdict.recovered) << preset << "\n" << dump(result.history);
    EXPECT_TRUE(verdict.recovery.handoff.has_value());
    EXPECT_EQ(of(verdict, "killed_by_plan"), 1);
  }
}

TEST_F(TrialTest, Exit137InMidCompileIsNoSignal) {
  Plan p = plan("torch-flock");
  FaultPlan fault = kill_at(Point::compile);
  fault.kind = FaultKind::exit_137;
  p.faults = {fault};
  const TrialResult result = run(p);
  const auto ended = std::find_if(result.history.events.begin(), result.history.events.end(), [](const Event& event) {
    return event.kind == EventKind::process_ended && event.b == 1;
  });
  ASSERT_NE(ended, result.history.events.end()) << dump(result.history);
  EXPECT_TRUE(WaitStatus::from_raw(static_cast<int>(ended->a)).is_exit(137));
}

TEST_F(TrialTest, AStoppedHolderHangsAnUnboundedWaiterAndFallsBackAtABound) {
  FaultPlan stop = kill_at(Point::compile);
  stop.kind = FaultKind::stop;
  stop.who = Victim::tree;
  Plan unbounded = plan("torch-flock");
  unbounded.faults = {stop};
  const TrialVerdict hung = judge(unbounded, run(unbounded).history);
  EXPECT_TRUE(shows(hung, FindingClass::hang));
  Plan bounded = plan("gptqmodel-flock");
  bounded.faults = {stop};
  bounded.bound_scale = 0.0005;
  const TrialResult result = run(bounded);
  const TrialVerdict fell = judge(bounded, result.history);
  EXPECT_EQ(of(fell, "fell_back"), 3) << dump(result.history);
}

TEST_F(TrialTest, AFaultWhosePointNobodyReachesIsInconclusive) {
  Plan p = plan("torch-flock");
  FaultPlan fault = kill_at(Point::compile);
  fault.index = 3;
  p.faults = {fault};
  const TrialVerdict verdict = judge(p, run(p).history);
  EXPECT_NE(verdict.inconclusive, "");
}

TEST_F(TrialTest, AnInterruptLeavesNobodyBehind) {
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(interrupt_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const TrialResult result = run(plan("torch-flock"));
  EXPECT_EQ(result.end, TrialResult::End::interrupted);
}

TEST_F(TrialTest, AnyCommandRunsFree) {
  Plan p = plan("command");
  p.mode = Mode::free;
  p.command = {"sh", "-c", "echo {worker} > {cache}/{worker}; test {worker} != 2"};
  const TrialResult result = run(p);
  const TrialVerdict verdict = judge(p, result.history);
  EXPECT_EQ(of(verdict, "served"), 3) << dump(result.history);
  EXPECT_EQ(of(verdict, "failed"), 1);
  EXPECT_TRUE(exists(join(result.cache_dir, "3")));
}

TEST_F(TrialTest, AHistoryReadBackGivesTheSameVerdict) {
  Plan p = plan("torch-baton");
  p.faults = {kill_at(Point::compile)};
  const TrialResult result = run(p);
  const auto read = History::parse(result.history.text());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->text(), result.history.text());
  const TrialVerdict first = judge(p, result.history), second = judge(p, *read);
  EXPECT_EQ(first.outcomes, second.outcomes);
  EXPECT_EQ(first.findings.size(), second.findings.size());
}

}  // namespace
}  // namespace jitrace
