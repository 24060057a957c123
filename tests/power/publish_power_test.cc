// What becomes visible, and to whom: orphan_write, missing, source_missing, torn, poisoned, foreign.

#include "power/arena.h"

namespace jitrace::power {
namespace {

class PublishPower : public Arena {};

// Killing the builder alone lets the next one in while its compiler still writes; killing its tree does not.
TEST_F(PublishPower, OrphanWriteACompilerThatNobodyWaitsFor) {
  Plan alone = plan("torch-flock");
  FaultPlan kill = fault(FaultKind::kill, Victim::builder, Point::compile);
  kill.order = OrphanOrder::held;
  alone.faults = {kill};
  Plan whole = alone;
  whole.faults[0].who = Victim::tree;
  whole.faults[0].order = OrphanOrder::none;
  duel(FindingClass::orphan_write, {"", alone}, {"", whole});
}

TEST_F(PublishPower, MissingALoadByName) {
  Plan plan = Arena::plan("sound");
  FaultPlan wipe = fault(FaultKind::wipe, Victim::builder, Point::load);
  wipe.path = "{entry}";
  plan.faults = {wipe};
  duel(FindingClass::missing, {"load-by-name", plan}, {"", plan});
}

TEST_F(PublishPower, SourceMissingAWipeOfTheSharedSource) {
  Plan plan = Arena::plan("deepgemm", 1);
  plan.before = {{"put", "other/kernel.cu", "// of somebody else\n"}};
  FaultPlan wipe = fault(FaultKind::wipe, Victim::builder, Point::spawn);
  wipe.path = "{source}";
  plan.faults = {wipe};
  Plan elsewhere = plan;
  elsewhere.faults[0].path = "other/kernel.cu";
  duel(FindingClass::source_missing, {"", plan}, {"", elsewhere});
}

// One stands in mid-write, the other comes and looks.
TEST_F(PublishPower, TornACompilerThatWritesWhereOthersLook) {
  Plan plan = Arena::plan("deepgemm", 2);
  plan.faults = {stop_for_a_while(Victim::worker, 2, Point::probe, Point::output),
                 stop_for_a_while(Victim::tree, 1, Point::output)};
  duel(FindingClass::torn, {"publish-in-place", plan}, {"", plan});
}

TEST_F(PublishPower, PoisonedACutLeftoverThatIsTrusted) {
  Plan plan = Arena::plan("sound");
  plan.before = {{"entry", "{entry}", ""}, {"cut", "{artifact}", ""}};
  duel(FindingClass::poisoned, {"trusts-names", plan}, {"", plan});
}

// Both build in one place; the first one's compiler comes last, and the second loads what that one has made.
TEST_F(PublishPower, ForeignAnUnlockBeforeTheBuild) {
  Plan plan = Arena::plan("torch-flock", 2);
  plan.faults = {stop_for_a_while(Victim::tree, 1, Point::compile, Point::link),
                 stop_for_a_while(Victim::builder, 2, Point::load, Point::load)};
  duel(FindingClass::foreign, {"early-unlock-in-place", plan}, {"", plan});
}

}  // namespace
}  // namespace jitrace::power
