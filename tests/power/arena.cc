#include "power/arena.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "power/planted/bugs.h"

namespace jitrace::power {

void Arena::SetUp() {
  auto directory = TempDir::create(testing::TempDir(), "jitrace-power-");
  ASSERT_TRUE(directory);
  directory_.emplace(std::move(*directory));
  setup_.libexec = JITRACE_LIBEXEC;
  setup_.run_dir = directory_->path();
  setup_.kernel_dir = JITRACE_SOURCE_DIR "/scenarios/kernels";
  setup_.cache_roots = {join(directory_->path(), "cache")};
  setup_.run_id = "power";
  auto guard = Guard::start(join(setup_.libexec, "guard"));
  ASSERT_TRUE(guard) << guard.error().message();
  lane_.emplace(Lane{0, std::move(*guard), 0});
  interrupt_ = Fd(::eventfd(0, EFD_CLOEXEC));
}

Plan Arena::plan(const std::string& preset, int count) {
  Plan plan;
  plan.scenario = "power";
  plan.cell = preset;
  plan.subject = preset;
  plan.cause = "planted";
  plan.toolchain = "fake";
  plan.arch = "sm_90a";
  plan.loader = "fake";
  plan.load_api = "library";
  plan.device = "sm_90a";
  plan.kernels = {"axpy"};
  plan.workers.assign(static_cast<std::size_t>(count), WorkerPlan{preset, 0, "get"});
  plan.watchdog = seconds(20);
  return plan;
}

FaultPlan Arena::fault(FaultKind kind, Victim who, Point point) {
  FaultPlan fault;
  fault.kind = kind;
  fault.who = who;
  fault.point = point;
  fault.signal = SIGKILL;
  return fault;
}

FaultPlan Arena::stop_for_a_while(Victim who, int index, Point point, Point until) {
  FaultPlan stop = fault(FaultKind::stop, who, point);
  stop.index = index;
  stop.until = until;
  return stop;
}

// Everything as it is, but for the worker.
std::string Arena::libexec_with(const std::string& bug) {
  if (bug.empty()) return JITRACE_LIBEXEC;
  EXPECT_NE(find_bug(bug), nullptr) << bug;
  const std::string directory = join(directory_->path(), "planted/" + bug);
  if (exists(directory)) return directory;
  EXPECT_TRUE(make_dirs(directory));
  const auto names = list_dir(JITRACE_LIBEXEC);
  EXPECT_TRUE(names) << names.error().message();
  if (!names) return directory;
  for (const std::string& name : *names) {
    const std::string target = name == "worker" ? JITRACE_PLANTED_WORKER : join(JITRACE_LIBEXEC, name);
    EXPECT_EQ(::symlink(target.c_str(), join(directory, name).c_str()), 0) << name;
  }
  return directory;
}

void Arena::make_toolchain_ready(const Plan& plan) {
  if (!fake_) {
    ToolchainSearch search;
    search.libexec = JITRACE_LIBEXEC;
    for (const ToolchainProbe& probe : find_toolchains(search)) {
      if (probe.toolchain && probe.toolchain->kind == ToolchainKind::fake) fake_ = *probe.toolchain;
    }
    ASSERT_TRUE(fake_) << "the fake compiler was not found";
  }
  const auto ready = make_ready(setup_, plan, *fake_);
  ASSERT_TRUE(ready) << ready.error().message();
}

TrialVerdict Arena::run(const Arm& arm, int trial) {
  Plan plan = arm.plan;
  plan.trial = trial;
  plan.seed = derive_seed(20, static_cast<std::uint64_t>(trial));
  make_toolchain_ready(plan);
  jitrace::Setup setup = setup_;
  setup.libexec = libexec_with(arm.bug);
  TrialVerdict verdict;
  verdict.inconclusive = "it could not be run";
  verdict.trial = trial;
  auto result = run_trial(plan, setup, *lane_, interrupt_);
  EXPECT_TRUE(result) << result.error().message();
  if (!result) return verdict;
  verdict = judge(plan, result->history);
  EXPECT_TRUE(remove_trial(*result));
  return verdict;
}

void Arena::duel(FindingClass kind, const Arm& armed, const Arm& control, Inconclusive inconclusive, int times) {
  Tally with, without;
  for (int trial = 1; trial <= times; ++trial) {
    add(without, run(control, trial));
    add(with, run(armed, trial));
  }
  const std::string wrong = complaint(kind, with, without, inconclusive);
  EXPECT_EQ(wrong, "");
}

}  // namespace jitrace::power
