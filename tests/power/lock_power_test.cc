// Who may build, and when: hang, wedged, two_owners, herd, serialised, starved.

#include "power/arena.h"

namespace jitrace::power {
namespace {

class LockPower : public Arena {};

TEST_F(LockPower, HangABatonThatOutlivesItsBuilder) {
  Plan baton = plan("torch-baton");
  baton.faults = {fault(FaultKind::kill, Victim::builder, Point::compile)};
  Plan flock = plan("torch-flock");
  flock.faults = baton.faults;
  duel(FindingClass::hang, {"", baton}, {"", flock});
}

// The builder dies, and its compiler, stopped for ever, keeps the lock that it never asked for.
TEST_F(LockPower, HangALockThatTheCompilerInherited) {
  Plan plan = Arena::plan("deepgemm-flock");
  FaultPlan stop = fault(FaultKind::stop, Victim::compiler, Point::compile);
  FaultPlan kill = fault(FaultKind::kill, Victim::builder, Point::output);
  kill.order = OrphanOrder::held;
  plan.faults = {stop, kill};
  duel(FindingClass::hang, {"", plan}, {"close-on-exec", plan});
}

TEST_F(LockPower, WedgedABatonThatNobodyRemoves) {
  Plan baton = plan("torch-baton");
  baton.rounds = 2;
  baton.faults = {fault(FaultKind::kill, Victim::builder, Point::compile)};
  Plan flock = plan("torch-flock");
  flock.rounds = 2;
  flock.faults = baton.faults;
  duel(FindingClass::wedged, {"", baton}, {"", flock});
}

// A rolling upgrade to torch >= 2.14: an unfixed worker builds under its own flock while a fixed one comes and sweeps.
TEST_F(LockPower, TwoOwnersASweepWithoutTheVersionGate) {
  Plan plan = Arena::plan("msa-flock over flock", 1);
  plan.workers.push_back({"torch-flock", 0, "get"});
  plan.faults = {stop_for_a_while(Victim::worker, 1, Point::lock_wait, Point::compile),
                 stop_for_a_while(Victim::tree, 1, Point::compile, Point::spawn)};
  duel(FindingClass::two_owners, {"sweep-without-gate", plan}, {"", plan});
}

TEST_F(LockPower, HerdADroppedRecheck) {
  const Plan plan = Arena::plan("deepgemm-flock");
  duel(FindingClass::herd, {"no-recheck", plan}, {"", plan});
}

TEST_F(LockPower, HerdAnUnlockBeforeThePublish) {
  Plan plan = Arena::plan("deepgemm-flock");
  plan.faults = {stop_for_a_while(Victim::builder, 1, Point::publish, Point::spawn)};
  duel(FindingClass::herd, {"early-unlock", plan}, {"", plan});
}

TEST_F(LockPower, SerialisedOneLockForAllKeys) {
  Plan plan = Arena::plan("deepgemm-flock");
  plan.kernels = {"axpy", "softmax"};
  plan.fake_duration = milliseconds(20);
  duel(FindingClass::serialised, {"one-lock-for-all", plan}, {"", plan});
}

// 600 s are scaled to 60 ms; nobody is stopped, the builder only takes longer.
TEST_F(LockPower, StarvedAnErrorAtTheBoundOfAWait) {
  Plan plan = Arena::plan("gptqmodel-flock");
  plan.fake_duration = milliseconds(1000);
  plan.bound_scale = 0.0001;
  duel(FindingClass::starved, {"fails-at-bound", plan}, {"", plan});
}

}  // namespace
}  // namespace jitrace::power
