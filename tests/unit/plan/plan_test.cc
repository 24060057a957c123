#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jitrace {
namespace {

using testing::HasSubstr;

Plan full_plan() {
  Plan plan;
  plan.scenario = "msa-23";
  plan.cell = "msa-flock over baton/kill/nvcc/sm_90a";
  plan.trial = 7;
  plan.seed = 0xfedcba9876543210u;
  plan.mode = Mode::gated;
  plan.subject = "msa-flock over baton";
  plan.cause = "kill";
  plan.command = {"python3", "a b", "{cache}", "", "line\nbreak", "back\\slash"};
  plan.toolchain = "nvcc@/opt/cuda 12/bin/nvcc";
  plan.arch = "sm_90a";
  plan.loader = "elf";
  plan.load_api = "module";
  plan.device = "sm_100a";
  plan.kernels = {"axpy", "gemm"};
  plan.workers = {{"msa-flock", 0, "get"}, {"torch baton", 1, "clear"}};
  plan.rounds = 2;
  plan.gets = 3;
  plan.clients = 2;
  plan.cache_dirs = {"a dir", "b=c"};
  plan.rename = "nfs-busy";
  plan.before = {{"put", "{lock}", "x = y\n"}, {"cut", "{artifact}", ""}};
  FaultPlan kill;
  kill.order = OrphanOrder::held;
  kill.point = Point::compile;
  FaultPlan stop;
  stop.kind = FaultKind::stop;
  stop.who = Victim::worker;
  stop.index = 2;
  stop.point = Point::load;
  stop.occurrence = 4;
  stop.waiters = 3;
  stop.signal = 0;
  stop.until = Point::unlock;
  FaultPlan cut;
  cut.kind = FaultKind::damage;
  cut.who = Victim::other;
  cut.damage = Damage::cut;
  cut.path = "{artifact}";
  cut.point = Point::publish;
  FaultPlan late;
  late.who = Victim::tree;
  late.at_random = true;
  plan.faults = {kill, stop, cut, late};
  plan.bound_scale = 0.1;
  plan.fake_duration = milliseconds(20);
  plan.watchdog = seconds(3);
  return plan;
}

TEST(Plan, TextAndParseAreInverse) {
  for (const Plan& plan : {full_plan(), [] {
                             Plan small;
                             small.workers = {{"sound", 0, "get"}};
                             return small;
                           }()}) {
    const std::string text = plan.text();
    const auto again = Plan::parse(text);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->text(), text);
  }
}

TEST(Plan, ParseGivesTheFieldsBack) {
  const auto plan = Plan::parse(full_plan().text());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->seed, 0xfedcba9876543210u);
  EXPECT_EQ(plan->command, full_plan().command);
  EXPECT_EQ(plan->cache_dirs, full_plan().cache_dirs);
  EXPECT_EQ(plan->before[0].content, "x = y\n");
  EXPECT_EQ(plan->workers[1].action, "clear");
  EXPECT_EQ(plan->bound_scale, 0.1);
  EXPECT_EQ(plan->faults[0].order, OrphanOrder::held);
  EXPECT_EQ(plan->faults[1].until, Point::unlock);
  EXPECT_EQ(plan->faults[2].damage, Damage::cut);
  EXPECT_FALSE(plan->faults[2].at_random);
  EXPECT_TRUE(plan->faults[3].at_random);
}

// A line of a good plan, what it is changed to, and what the refusal says.
struct Change {
  const char* from;
  const char* to;
  const char* error;
};

TEST(Plan, ParseNamesWhatItRefuses) {
  const std::string text = full_plan().text();
  for (const Change& change : {Change{"jitrace plan 1", "jitrace plan 2", "version 2 is not 1"},
                               Change{"jitrace plan 1", "jitrace spec 1", "the first line is not"},
                               Change{"\nmode gated", "\nmode gate", "\"mode\": unknown: gate"},
                               Change{"\nmode gated", "", "\"mode\" is missing"},
                               Change{"\nrounds 2", "\nrounds 0", "\"rounds\": 0 is not within"},
                               Change{"\nseed fedcba9876543210", "\nseed xyz", "\"seed\": not 16 hex digits"},
                               Change{"bound_scale 0.1", "bound_scale nan", "\"bound_scale\": not a number above 0"},
                               Change{"kind=stop", "kind=stopp", "\"kind\": unknown: stopp"},
                               Change{"point=load", "point=", "\"point\": unknown"},
                               Change{"client=1", "client=2", "there is no client 2"},
                               Change{"occurrence=4", "occurrence=0", "\"occurrence\": 0 is not within"},
                               Change{"signal=9", "signal=0", "\"signal\": 0 kills nobody"},
                               Change{"\nworker", "\njitrace plan 1\nworker", "a second one begins in the same file"},
                               Change{"watchdog 3000000000", "watchdog 0", "\"watchdog\""}}) {
    std::string changed = text;
    const std::size_t at = changed.find(change.from);
    ASSERT_NE(at, std::string::npos) << change.from;
    changed.replace(at, std::string(change.from).size(), change.to);
    const auto plan = Plan::parse(changed);
    ASSERT_FALSE(plan) << change.to;
    EXPECT_THAT(plan.error().message(), HasSubstr(change.error));
  }
}

TEST(Plan, OnlyKillsComeAtARandomMoment) {
  Plan plan = full_plan();
  plan.faults.back().kind = FaultKind::stop;
  const auto refused = Plan::parse(plan.text());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("a random moment is for kills"));
}

TEST(Plan, FaultsInWords) {
  const Plan plan = full_plan();
  EXPECT_EQ(describe(plan.faults[0]), "SIGKILL of builder 1 at compile, orphan-held");
  EXPECT_EQ(describe(plan.faults[1]), "stop of worker 2 at load for the 4. time while 3 others wait, until another worker is at unlock");
  EXPECT_EQ(describe(plan.faults[2]), "cut of {artifact} by another process when builder 1 is at publish");
  EXPECT_EQ(describe(plan.faults[3]), "SIGKILL of tree at a random moment");
  FaultPlan tool;
  tool.who = Victim::build_tool;
  tool.point = Point::output;
  EXPECT_EQ(describe(tool), "SIGKILL of build_tool at output");
  FaultPlan exit;
  exit.kind = FaultKind::exit_137;
  exit.point = Point::compile;
  EXPECT_EQ(describe(exit), "exit 137 of builder 1 at compile");
}

TEST(Plan, NamesAndParsersAgree) {
  for (const Mode mode : {Mode::gated, Mode::free}) EXPECT_EQ(parse_mode(name_of(mode)), mode);
  EXPECT_FALSE(parse_mode("traced"));
}

}  // namespace
}  // namespace jitrace
