// What is said, and what is left: loud, wrong_error, leak.

#include "power/arena.h"

namespace jitrace::power {
namespace {

class ErrorPower : public Arena {};

TEST_F(ErrorPower, LoudHalfAnEntryIsAnErrorForEver) {
  Plan plan = Arena::plan("deepgemm");
  plan.before = {{"entry", "{entry}", ""}, {"remove", "{artifact}", ""}};
  duel(FindingClass::loud, {"incomplete-is-an-error", plan}, {"", plan});
}

// The shell alone would not do: the pipe's end comes only when its compiler, too, is through.
TEST_F(ErrorPower, WrongErrorAKilledShellReadAsSuccess) {
  Plan plan = Arena::plan("deepgemm-dir", 1);
  plan.faults = {fault(FaultKind::kill, Victim::shell, Point::compile),
                 fault(FaultKind::kill, Victim::stage, Point::output)};
  duel(FindingClass::wrong_error, {"exit-code-only", plan}, {"", plan});
}

// Alone, so that nobody hangs on it: what is left is what the next one would hang on.
TEST_F(ErrorPower, LeakABatonWithoutAnOwner) {
  Plan baton = plan("torch-baton", 1);
  baton.faults = {fault(FaultKind::kill, Victim::builder, Point::compile)};
  Plan flock = plan("torch-flock", 1);
  flock.faults = baton.faults;
  duel(FindingClass::leak, {"", baton}, {"", flock});
}

TEST_F(ErrorPower, LeakATemporaryFile) {
  const Plan plan = Arena::plan("deepgemm-flock", 2);
  duel(FindingClass::leak, {"leaves-a-file", plan}, {"", plan});
}

// Nobody can tell a process that was forgotten from one that is about to finish, so the watchdog ends it.
TEST_F(ErrorPower, LeakAProcess) {
  Plan plan = Arena::plan("deepgemm-flock", 2);
  plan.watchdog = seconds(20);
  duel(FindingClass::leak, {"leaves-a-process", plan}, {"", plan}, Inconclusive::allowed_when_armed, 2);
}

}  // namespace
}  // namespace jitrace::power
