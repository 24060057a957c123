#include "scenario/overrides.h"

#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string two_subjects = minimal + "[[subject]]\nname = \"both\"\npresets = [\"torch-baton\", \"deepgemm\"]\n";

Scenario with(const Overrides& overrides, const std::string& text = two_subjects) {
  Scenario scenario = good(text);
  EXPECT_THAT(apply(overrides, small_catalogue(), scenario), IsEmpty());
  return scenario;
}

TEST(Overrides, NothingChangesNothing) {
  const Scenario before = good(two_subjects), after = with({});
  EXPECT_EQ(after.workload.trials, before.workload.trials);
  EXPECT_THAT(after.subjects, SizeIs(2));
}

TEST(Overrides, NumbersReplaceThoseOfTheWorkloadAndOfTheFaults) {
  Overrides overrides;
  overrides.workers = 3;
  overrides.trials = 4;
  overrides.seed = 5;
  overrides.bound_scale = 0.25;
  const Scenario scenario = with(overrides, two_subjects + "[[fault]]\nname = \"x\"\nworkers = 9\ntrials = 9\nbound_scale = 9\n");
  EXPECT_THAT(scenario.workload.workers, ElementsAre(3));
  EXPECT_EQ(scenario.workload.trials, 4);
  EXPECT_EQ(scenario.workload.seed, 5u);
  EXPECT_EQ(scenario.workload.bound_scale, 0.25);
  EXPECT_FALSE(scenario.faults[0].workers);
  EXPECT_FALSE(scenario.faults[0].trials);
  EXPECT_FALSE(scenario.faults[0].bound_scale);
}

TEST(Overrides, StrategiesChooseSubjectsOrBringPresets) {
  Overrides overrides;
  overrides.strategies = {"both", "daemon", "both"};
  const Scenario scenario = with(overrides);
  ASSERT_THAT(scenario.subjects, SizeIs(2));
  EXPECT_EQ(scenario.subjects[0].name, "both");
  EXPECT_THAT(scenario.subjects[0].workers, SizeIs(2));
  EXPECT_EQ(scenario.subjects[1].name, "daemon");
  EXPECT_THAT(scenario.subjects[1].workers, SizeIs(1));
}

TEST(Overrides, ToolchainsBecomeACellEach) {
  Overrides overrides;
  overrides.toolchains = {"fake", "cxx"};
  EXPECT_THAT(with(overrides).workload.each_toolchain, ElementsAre("fake", "cxx"));
}

TEST(Overrides, SeveralCacheDirectoriesAreOneAClient) {
  Overrides overrides;
  overrides.cache_dirs = {"a", "b"};
  const Scenario scenario = with(overrides, two_subjects + "[[fault]]\nname = \"x\"\nclients = 3\n");
  EXPECT_EQ(scenario.cache.clients, 2);
  EXPECT_FALSE(scenario.faults[0].clients);
}

TEST(Overrides, EverythingWrongIsSaidAtOnceAndNothingIsChanged) {
  Overrides overrides;
  overrides.workers = 0;
  overrides.trials = 7;
  overrides.strategies = {"torch-batton"};
  overrides.toolchains = {"nvc"};
  overrides.loader = "elv";
  overrides.device = "h200";
  overrides.bound_scale = -1;
  Scenario scenario = good(two_subjects);
  EXPECT_THAT(apply(overrides, small_catalogue(), scenario),
              ElementsAre("--workers: 0 is not within 1 to 4096",
                          "--strategy: unknown subject or preset \"torch-batton\"; did you mean \"torch-baton\"?",
                          HasSubstr("--toolchain: unknown toolchain \"nvc\"; did you mean \"nvcc\"?"),
                          HasSubstr("--loader: unknown loader \"elv\"; did you mean \"elf\"?"), HasSubstr("--device: \"h200\" is no device"),
                          HasSubstr("--bound-scale: -1")));
  EXPECT_EQ(scenario.workload.trials, 20);
  EXPECT_THAT(scenario.subjects, SizeIs(2));
}

TEST(Overrides, ADeviceIsAnArchOrANumber) {
  for (const char* device : {"sm_90a", "sm_100a", "0", "12"}) {
    Overrides overrides;
    overrides.device = device;
    EXPECT_EQ(with(overrides, two_subjects).workload.device, device);
  }
  for (const char* device : {"", "sm_", "sm_a", "90a", "cuda:0", "sm_90A"}) {
    Overrides overrides;
    overrides.device = device;
    Scenario scenario = good(two_subjects);
    EXPECT_THAT(apply(overrides, small_catalogue(), scenario), SizeIs(1)) << device;
  }
}

TEST(FaultWords, EveryWordReadsBack) {
  for (const std::string& text : fault_words()) {
    const auto word = parse_fault_word(text);
    ASSERT_TRUE(word) << text;
    EXPECT_EQ(fault_word(word->kind, word->signal, word->damage), text);
  }
  EXPECT_EQ(fault_word(FaultKind::kill, 10, Damage::none), "signal 10");
}

TEST(FaultWords, EveryNameReadsBack) {
  for (const std::string& name : victim_names()) EXPECT_EQ(name_of(*parse_victim(name)), name);
  for (const std::string& name : orphan_order_names()) EXPECT_EQ(name_of(*parse_orphan_order(name)), name);
  for (const FaultKind kind : {FaultKind::kill, FaultKind::exit_137, FaultKind::stop, FaultKind::wipe, FaultKind::clear,
                               FaultKind::force_rebuild, FaultKind::damage, FaultKind::unlink_lock}) {
    EXPECT_EQ(parse_fault_kind(name_of(kind)), kind);
  }
  for (const Damage damage : {Damage::none, Damage::cut, Damage::empty, Damage::replace, Damage::remove, Damage::hold}) {
    EXPECT_EQ(parse_damage(name_of(damage)), damage);
  }
}

}  // namespace
}  // namespace jitrace
