#include "plan/cells.h"

#include <set>

#include "plan/applicable.h"
#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Usable everything{{"nvcc", "nvrtc", "cxx", "fake"}, {"elf", "dlopen", "fake"}};

std::vector<CellPlan> cells(const std::string& text, const Usable& usable = everything) {
  return cells_of(good(text), small_catalogue(), usable);
}

std::vector<std::string> ids(const std::vector<CellPlan>& list) {
  std::vector<std::string> out;
  for (const CellPlan& cell : list) out.push_back(cell.id);
  return out;
}

TEST(Cells, CrossSubjectsWithFaultsInTheOrderOfTheFile) {
  EXPECT_THAT(ids(cells(R"(
[[subject]]
preset = "torch-baton"
[[subject]]
preset = "deepgemm"
[[fault]]
name = "none"
[[fault]]
name = "kill"
at = "compile"
what = "SIGKILL"
)")),
              ElementsAre("torch-baton/none/nvcc/sm_90a", "torch-baton/kill/nvcc/sm_90a", "deepgemm/none/nvcc/sm_90a",
                          "deepgemm/kill/nvcc/sm_90a"));
}

TEST(Cells, TheFirstUsableToolchainRuns) {
  const auto list = cells(minimal, {{"cxx"}, {"dlopen"}});
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].id, "torch-baton/none/cxx/host");
  EXPECT_EQ(list[0].loader, "dlopen");
  EXPECT_EQ(list[0].skipped, "");
}

TEST(Cells, WithoutAToolchainACellIsSkippedAndSaysSo) {
  const auto list = cells(minimal, {{"fake"}, {"dlopen"}});
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].skipped, "none of nvcc, cxx is usable on this machine");
}

TEST(Cells, EachToolchainIsACellAndAMissingOneIsASkip) {
  const auto list = cells("[workload]\neach_toolchain = [\"fake\", \"nvrtc\", \"cxx\"]\n[[subject]]\npreset = \"deepgemm\"\n",
                          {{"fake", "cxx"}, {"fake", "dlopen"}});
  EXPECT_THAT(ids(list), ElementsAre("deepgemm/none/fake/sm_90a", "deepgemm/none/nvrtc/sm_90a", "deepgemm/none/cxx/host"));
  EXPECT_EQ(list[0].loader, "fake");
  EXPECT_EQ(list[1].skipped, "nvrtc is not usable on this machine");
  EXPECT_EQ(list[2].loader, "dlopen");
}

TEST(Cells, SeveralNvccsAreACellEach) {
  const auto list = cells(minimal, {{"nvcc@/a/nvcc", "nvcc@/b/nvcc"}, {"dlopen"}});
  EXPECT_THAT(ids(list), ElementsAre("torch-baton/none/nvcc@_a_nvcc/sm_90a", "torch-baton/none/nvcc@_b_nvcc/sm_90a"));
  EXPECT_EQ(list[1].toolchain, "nvcc@/b/nvcc");
}

TEST(Cells, CubinsAreLoadedAsAsked) {
  const std::string text = "[workload]\nload_apis = [\"library\", \"module\"]\n[[subject]]\npreset = \"deepgemm\"\n" + minimal;
  auto list = cells(text);
  EXPECT_THAT(ids(list), ElementsAre("deepgemm/none/nvcc/sm_90a/library", "deepgemm/none/nvcc/sm_90a/module",
                                     "torch-baton/none/nvcc/sm_90a"));
  EXPECT_EQ(list[0].loader, "elf");
  EXPECT_EQ(list[2].loader, "dlopen");
  list = cells(text, {{"nvcc"}, {"cuda", "elf", "dlopen"}});
  EXPECT_EQ(list[0].loader, "cuda");
}

TEST(Cells, AWantedLoaderThatIsMissingIsASkip) {
  const auto list = cells("[workload]\nloader = \"cuda\"\n[[subject]]\npreset = \"deepgemm\"\n" + minimal);
  EXPECT_EQ(list[0].skipped, "the cuda loader is not usable on this machine");
  EXPECT_EQ(list[1].loader, "dlopen");
  EXPECT_EQ(list[1].skipped, "");
}

TEST(Cells, SizesAndKeysAreCells) {
  const auto list = cells("[workload]\nkernels = [\"a\", \"b\", \"c\"]\nworkers = [8, 64]\nkeys = [1, 0]\n" + minimal);
  EXPECT_THAT(ids(list), ElementsAre("torch-baton/none/nvcc/sm_90a/8-workers/1-keys", "torch-baton/none/nvcc/sm_90a/8-workers/3-keys",
                                     "torch-baton/none/nvcc/sm_90a/64-workers/1-keys",
                                     "torch-baton/none/nvcc/sm_90a/64-workers/3-keys"));
}

TEST(Cells, AFaultThatCannotStrikeIsNotApplicable) {
  const auto list = cells(R"(
[[subject]]
preset = "deepgemm"
[[fault]]
name = "lock"
at = "lock_held"
what = "SIGKILL"
[[fault]]
name = "ninja"
who = "build_tool"
at = "compile"
what = "SIGKILL"
[[fault]]
name = "waiter"
who = "waiter"
at = "load"
what = "SIGKILL"
[[fault]]
name = "shell"
who = "shell"
at = "compile"
what = "SIGKILL"
[[fault]]
name = "shell-too-late"
who = "shell"
at = "load"
what = "SIGKILL"
[[fault]]
name = "random"
who = "worker"
at = "random"
what = "SIGKILL"
)");
  std::vector<std::string> why;
  for (const CellPlan& cell : list) why.push_back(cell.not_applicable);
  EXPECT_THAT(why, ElementsAre("deepgemm does not pass lock_held", "deepgemm runs no build tool",
                               "deepgemm has no lock, so nobody waits", "", "no shell runs at load",
                               HasSubstr("a random moment is for commands")));
}

TEST(Cells, WhatIsNotThereCannotBeHit) {
  const auto list = cells(R"(
[[subject]]
preset = "deepgemm"
[[subject]]
preset = "daemon"
[[fault]]
name = "unlink"
at = "load"
what = "unlink-lock"
[[fault]]
name = "group"
who = "group"
at = "compile"
what = "SIGKILL"
[[fault]]
name = "exit"
at = "compile"
what = "exit 137"
)");
  std::vector<std::string> why;
  for (const CellPlan& cell : list) why.push_back(cell.not_applicable);
  EXPECT_THAT(why, ElementsAre("deepgemm has no lock to remove", "", "", "", HasSubstr("alone in its group"),
                               HasSubstr("nobody tells it to exit")));
}

TEST(Cells, NinjaCannotUseNvrtc) {
  const auto list = cells("[workload]\neach_toolchain = [\"nvrtc\"]\n" + minimal);
  EXPECT_EQ(list[0].not_applicable, "torch-baton builds with ninja, and nvrtc is a library");
}

TEST(Cells, AStarIsEveryPointAndEveryVictim) {
  const auto list = cells("[[subject]]\npreset = \"deepgemm\"\n[[fault]]\nname = \"sweep\"\nat = \"*\"\nwho = \"*\"\nwhat = \"SIGKILL\"\n");
  std::set<std::string> found;
  for (const CellPlan& cell : list) {
    EXPECT_EQ(cell.not_applicable, "") << cell.id;
    EXPECT_TRUE(found.insert(cell.id).second) << cell.id << " is there twice";
  }
  // Nine points of the builder, and at compile and output: compiler, shell, stage, tree.
  EXPECT_THAT(list, SizeIs(9 + 2 * 4));
  EXPECT_TRUE(found.contains("deepgemm/sweep/shell/compile/nvcc/sm_90a"));
  EXPECT_FALSE(found.contains("deepgemm/sweep/build_tool/compile/nvcc/sm_90a"));
}

TEST(Cells, OfAnExpectationTheLastWordHolds) {
  const auto list = cells(minimal + R"(
[[subject]]
preset = "deepgemm"
[[expect]]
recovered = true
never = ["hang", "torn"]
builds = 1
[[expect]]
subject = "torch-baton"
always = ["hang"]
recovered = false
[[expect]]
subject = "deepgemm"
builds = { max = 8 }
)");
  EXPECT_THAT(words(list[0].expectation), ElementsAre("always hang", "never torn", "not recovered", "builds = 1"));
  EXPECT_THAT(words(list[1].expectation), ElementsAre("never hang", "never torn", "recovered", "builds <= 8"));
}

TEST(Cells, ACommandRunsFreeAndKnowsNoPoints) {
  const auto list = cells(R"(
[[subject]]
command = ["python3", "x.py"]
[[fault]]
name = "random"
who = "tree"
at = "random"
what = "SIGKILL"
[[fault]]
name = "point"
at = "compile"
what = "SIGKILL"
)");
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0].id, "command/random");
  EXPECT_EQ(list[0].mode, Mode::free);
  EXPECT_EQ(list[0].not_applicable, "");
  EXPECT_THAT(list[1].not_applicable, HasSubstr("announces no points"));
  const Plan plan = plan_of(good("[[subject]]\ncommand = [\"x\", \"{cache}\"]\n"), list[0], 1);
  EXPECT_THAT(plan.workers, SizeIs(8));
  EXPECT_TRUE(plan.faults[0].at_random);
}

TEST(PlanOf, SameScenarioAndSeedAreTheSameBytes) {
  const std::string text = minimal + "[[fault]]\nname = \"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\nbefore = [{ put = \"{lock}\" }]\n";
  const Scenario one = good(text), two = good(text);
  const auto first = cells_of(one, small_catalogue(), everything), second = cells_of(two, small_catalogue(), everything);
  for (int trial = 1; trial <= 3; ++trial) EXPECT_EQ(plan_of(one, first[0], trial).text(), plan_of(two, second[0], trial).text());
  EXPECT_NE(plan_of(one, first[0], 1).seed, plan_of(one, first[0], 2).seed);
  Scenario other = one;
  other.workload.seed = 2;
  EXPECT_NE(plan_of(one, first[0], 1).seed, plan_of(other, first[0], 1).seed);
}

TEST(PlanOf, ThePlanOfACellDoesNotDependOnTheOtherCells) {
  const Scenario all = good("[[subject]]\npreset = \"deepgemm\"\n" + minimal), alone = good(minimal);
  const auto of_all = cells_of(all, small_catalogue(), everything), of_one = cells_of(alone, small_catalogue(), everything);
  EXPECT_EQ(plan_of(all, of_all[1], 4).text(), plan_of(alone, of_one[0], 4).text());
}

TEST(PlanOf, WorkersTakeTurnsOverPresetsAndClients) {
  const Scenario scenario = good(
      "[workload]\nworkers = 5\n[[subject]]\npresets = [\"torch-flock\", \"torch-baton\"]\n"
      "[[fault]]\nname = \"gap\"\nclients = 2\nrename = \"nfs-busy\"\n");
  const Plan plan = plan_of(scenario, cells_of(scenario, small_catalogue(), everything)[0], 1);
  EXPECT_EQ(plan.clients, 2);
  EXPECT_EQ(plan.rename, "nfs-busy");
  ASSERT_THAT(plan.workers, SizeIs(5));
  EXPECT_EQ(plan.workers[0].preset, "torch-flock");
  EXPECT_EQ(plan.workers[1].preset, "torch-baton");
  EXPECT_EQ(plan.workers[1].client, 1);
  EXPECT_EQ(plan.workers[4].client, 0);
}

TEST(PlanOf, AFaultsOwnSettingsReplaceTheWorkloads) {
  const Scenario scenario = good("[workload]\nkernels = [\"a\", \"b\"]\n" + minimal +
                                 "[[fault]]\nname = \"x\"\nworkers = 2\nrounds = 3\ngets = 4\nkeys = 1\ntrials = 5\n"
                                 "bound_scale = 0.5\nwatchdog_s = 7\n");
  const auto list = cells_of(scenario, small_catalogue(), everything);
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].trials, 5);
  const Plan plan = plan_of(scenario, list[0], 1);
  EXPECT_THAT(plan.workers, SizeIs(2));
  EXPECT_THAT(plan.kernels, ElementsAre("a"));
  EXPECT_EQ(plan.rounds, 3);
  EXPECT_EQ(plan.gets, 4);
  EXPECT_EQ(plan.bound_scale, 0.5);
  EXPECT_EQ(plan.watchdog, seconds(7));
}

TEST(KillPoints, AWaiterIsHitWhileItWaitsAndToolsWhileTheyRun) {
  const Catalogue catalogue = small_catalogue();
  const auto points = kill_points(*catalogue.find("torch-baton"), "nvcc");
  int waiters = 0, tools = 0;
  for (const auto& [victim, point] : points) {
    if (victim == Victim::waiter) {
      EXPECT_EQ(point, Point::lock_wait);
      ++waiters;
    }
    if (victim == Victim::build_tool) {
      EXPECT_TRUE(point == Point::compile || point == Point::output || point == Point::link);
      ++tools;
    }
    EXPECT_NE(victim, Victim::shell);
    EXPECT_NE(victim, Victim::daemon);
  }
  EXPECT_EQ(waiters, 1);
  EXPECT_EQ(tools, 3);
}

}  // namespace
}  // namespace jitrace
