#include "fault/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes down what the engine asks for.
class RecordingControl final : public Control {
 public:
  void release(Slot slot, Order order) override {
    log.push_back((order == Order::exit_137 ? "exit " : "release ") + std::to_string(slot));
  }
  Result<void> signal_worker(Slot slot, int number) override { return sent("worker " + std::to_string(slot), number); }
  Result<void> signal_tool(pid_t pid, int number) override { return sent("tool " + std::to_string(pid), number); }
  Result<void> signal_tree(pid_t pid, int number) override { return sent("tree " + std::to_string(pid), number); }
  Result<void> signal_group(Slot slot, int number) override { return sent("group " + std::to_string(slot), number); }
  Result<void> exit_137(Slot slot) override {
    log.push_back("control exit " + std::to_string(slot));
    return {};
  }
  void arm(Point point) override { armed.insert(point); }
  void disarm(Point point) override { armed.erase(point); }
  void note(Event event) override { notes.push_back(std::move(event)); }
  Result<void> damage_cache(const std::string& path, const std::string& how, Slot) override {
    log.push_back(how + " " + path);
    return {};
  }

  std::vector<std::string> log;
  std::vector<Event> notes;
  std::set<Point> armed;
  bool dead = false;  // every signal finds nobody

 private:
  Result<void> sent(const std::string& whom, int number) {
    if (dead) return make_error("signal", whom, ESRCH);
    log.push_back("signal " + std::to_string(number) + " " + whom);
    return {};
  }
};

constexpr std::uint64_t attempt = 0xabc;
constexpr Slot shim = 100;

class Engine : public testing::Test {
 protected:
  void plan(FaultPlan fault) {
    plan_.faults = {fault};
    engine_ = std::make_unique<FaultEngine>(plan_, world_, control_);
    engine_->arm();
    for (Slot slot = 0; slot < 3; ++slot) {
      world_.add_worker(slot, 1, 0);
      Event started = event(EventKind::process_started, slot);
      started.pid = 1000 + slot;
      say(started);
    }
  }
  static Event event(EventKind kind, Slot slot, Point point = Point::none) {
    Event made;
    made.kind = kind;
    made.slot = slot;
    made.point = point;
    made.stamp = 1;
    return made;
  }
  void say(const Event& said) {
    world_.apply(said);
    engine_->on_event(said);
  }
  void reach(Slot slot, Point point, std::uint64_t of = 0) {
    Event reached = event(EventKind::reached, slot, point);
    reached.a = control_.armed.contains(point) ? 1 : 0;
    reached.attempt = of;
    reached.pid = 2000 + slot;
    say(reached);
  }
  // Worker `slot` holds the lock and compiles: a tool stands in mid-compile.
  void compile(Slot slot) {
    reach(slot, Point::lock_held);
    Event begin = event(EventKind::attempt_begin, slot);
    begin.attempt = attempt;
    say(begin);
    Event tool = event(EventKind::tool_begin, shim);
    tool.attempt = attempt;
    tool.a = static_cast<std::int64_t>(ToolRole::stage);
    tool.pid = 2000 + shim;
    say(tool);
    reach(shim, Point::compile, attempt);
  }
  int fired() const { return count(EventKind::fault_fired); }
  int missed() const { return count(EventKind::fault_missed); }

  Plan plan_;
  World world_;
  RecordingControl control_;
  std::unique_ptr<FaultEngine> engine_;

 private:
  int count(EventKind kind) const {
    int n = 0;
    for (const Event& note : control_.notes) n += note.kind == kind ? 1 : 0;
    return n;
  }
};

FaultPlan kill_builder() {
  FaultPlan fault;
  fault.point = Point::compile;
  fault.signal = SIGKILL;
  return fault;
}

TEST_F(Engine, KillsTheBuilderWhileItsCompilerStandsAtTheGate) {
  plan(kill_builder());
  compile(1);
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 1", "release 100"));
  EXPECT_EQ(fired(), 1);
  EXPECT_EQ(engine_->killed(), std::set<Slot>{1});
}

TEST_F(Engine, TheTreeOfAWorkerThatHasEndedIsNobodysTree) {
  FaultPlan fault = kill_builder();
  fault.who = Victim::tree;
  plan(fault);
  reach(1, Point::lock_held);
  Event begin = event(EventKind::attempt_begin, 1);
  begin.attempt = attempt;
  say(begin);
  say(event(EventKind::process_ended, 1));
  reach(shim, Point::compile, attempt);  // an orphan: its builder's number may have been given anew
  EXPECT_THAT(control_.log, ElementsAre("release 100"));
  EXPECT_EQ(fired(), 0);
  EXPECT_EQ(missed(), 1);
}

TEST_F(Engine, AToolThatIsFasterThanItsBuilderWaitsForTheShellsName) {
  FaultPlan fault = kill_builder();
  fault.who = Victim::shell;
  plan(fault);
  compile(1);
  EXPECT_THAT(control_.log, IsEmpty()) << "the shell is not known yet";
  Event shell = event(EventKind::tool_begin, driver_slot);
  shell.attempt = attempt;
  shell.a = static_cast<std::int64_t>(ToolRole::shell);
  shell.pid = 4711;
  say(shell);
  EXPECT_THAT(control_.log, ElementsAre("signal 9 tool 4711", "release 100"));
  EXPECT_EQ(fired(), 1);
}

TEST_F(Engine, AShellThatIsNeverNamedIsAMissedFault) {
  FaultPlan fault = kill_builder();
  fault.who = Victim::shell;
  plan(fault);
  compile(1);
  EXPECT_TRUE(engine_->release_stuck());
  EXPECT_THAT(control_.log, ElementsAre("release 100"));
  EXPECT_EQ(missed(), 1);
}

TEST_F(Engine, OrphanFirstHoldsTheSuccessorUntilTheTreeHasDrained) {
  FaultPlan fault = kill_builder();
  fault.order = OrphanOrder::first;
  plan(fault);
  compile(0);
  control_.log.clear();
  EXPECT_TRUE(engine_->waits_for_orphans());
  reach(2, Point::lock_held);
  EXPECT_THAT(control_.log, IsEmpty()) << "the successor went on beside the orphan";
  engine_->on_orphans_gone();
  EXPECT_THAT(control_.log, ElementsAre("release 2"));
  EXPECT_FALSE(engine_->wants_reload());
}

TEST_F(Engine, OrphanHeldStandsStillUntilTheSuccessorHasLoaded) {
  FaultPlan fault = kill_builder();
  fault.order = OrphanOrder::held;
  plan(fault);
  compile(0);
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 0"));
  Event bad = event(EventKind::loaded, 2);
  bad.a = 301;
  say(bad);
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 0")) << "a failed load is no load";
  say(event(EventKind::loaded, 2));
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 0", "release 100"));
  EXPECT_TRUE(engine_->wants_reload());
}

TEST_F(Engine, OrphanHeldMovesWhenNobodyElseCan) {
  FaultPlan fault = kill_builder();
  fault.order = OrphanOrder::held;
  plan(fault);
  compile(0);
  EXPECT_TRUE(engine_->release_stuck());
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 0", "release 100"));
  EXPECT_FALSE(engine_->release_stuck());
}

TEST_F(Engine, Exit137OfABuilderInMidCompileGoesByItsControlDescriptor) {
  FaultPlan fault = kill_builder();
  fault.kind = FaultKind::exit_137;
  plan(fault);
  compile(0);
  EXPECT_THAT(control_.log, ElementsAre("control exit 0", "release 100"));
}

TEST_F(Engine, Exit137AtTheBuildersOwnGateIsAnOrder) {
  FaultPlan fault = kill_builder();
  fault.kind = FaultKind::exit_137;
  fault.point = Point::lock_held;
  plan(fault);
  reach(0, Point::lock_held);
  EXPECT_EQ(control_.log.front(), "exit 0");
}

TEST_F(Engine, TheSecondBuilderIsTheSecondToHoldTheLock) {
  FaultPlan fault = kill_builder();
  fault.point = Point::lock_held;
  fault.index = 2;
  plan(fault);
  reach(2, Point::lock_held);
  reach(0, Point::lock_held);
  EXPECT_THAT(control_.log, ElementsAre("release 2", "signal 9 worker 0", "release 0"));
}

TEST_F(Engine, AFaultThatWantsWaitersStrikesWhenTheyWait) {
  FaultPlan fault = kill_builder();
  fault.point = Point::lock_held;
  fault.waiters = 2;
  plan(fault);
  reach(0, Point::lock_held);
  say(event(EventKind::waiting, 1));
  EXPECT_THAT(control_.log, IsEmpty()) << "one waits, and the victim stands";
  say(event(EventKind::waiting, 2));
  EXPECT_THAT(control_.log, ElementsAre("signal 9 worker 0", "release 0"));
}

TEST_F(Engine, AFaultWhoseWaitersNeverComeIsMissed) {
  FaultPlan fault = kill_builder();
  fault.point = Point::lock_held;
  fault.waiters = 2;
  plan(fault);
  reach(0, Point::lock_held);
  say(event(EventKind::waiting, 1));
  say(event(EventKind::process_ended, 2));
  EXPECT_TRUE(engine_->release_stuck());
  EXPECT_EQ(fired(), 0);
  EXPECT_EQ(missed(), 1);
  EXPECT_THAT(control_.log, ElementsAre("release 0")) << "the gate must open all the same";
}

TEST_F(Engine, AFaultThatFindsNobodyIsMissedAndNotFired) {
  plan(kill_builder());
  control_.dead = true;
  compile(0);
  EXPECT_EQ(fired(), 0);
  EXPECT_EQ(missed(), 1);
  EXPECT_THAT(control_.log, ElementsAre("release 100")) << "the gate must open all the same";
}

TEST_F(Engine, AFaultWhosePointNobodyReachesIsMissed) {
  plan(kill_builder());
  reach(0, Point::lock_held);
  engine_->finish();
  EXPECT_EQ(missed(), 1);
}

TEST_F(Engine, AStoppedBuilderGoesOnWhenAnotherWorkerIsThere) {
  FaultPlan fault = kill_builder();
  fault.kind = FaultKind::stop;
  fault.point = Point::lock_held;
  fault.until = Point::load;
  plan(fault);
  reach(0, Point::lock_held);
  EXPECT_TRUE(world_.worker(0)->stopped);
  reach(1, Point::load);
  EXPECT_FALSE(world_.worker(0)->stopped);
  EXPECT_EQ(control_.log.back(), "signal " + std::to_string(SIGCONT) + " worker 0");
}

TEST_F(Engine, ADaemonsBuildIsNoWorkersAndItsToolsCanBeHit) {
  for (const Victim who : {Victim::daemon, Victim::stage, Victim::builder}) {
    world_ = World();
    control_.log.clear();
    FaultPlan fault = kill_builder();
    fault.who = who;
    plan(fault);
    Event daemon = event(EventKind::tool_begin, 50);
    daemon.a = static_cast<std::int64_t>(ToolRole::daemon);
    daemon.pid = 555;
    say(daemon);
    Event begin = event(EventKind::attempt_begin, 51);  // a slot of the daemon's own
    begin.attempt = attempt;
    say(begin);
    reach(shim, Point::compile, attempt);
    const std::string expected = "signal 9 tool " + std::to_string(who == Victim::stage ? 2000 + shim : 555);
    EXPECT_EQ(control_.log.front(), expected);
  }
}

TEST_F(Engine, EveryArrivalIsReleasedOnce) {
  plan(kill_builder());
  compile(0);
  Event begin = event(EventKind::attempt_begin, 2);
  begin.attempt = 0xdef;
  say(begin);
  control_.log.clear();
  reach(101, Point::compile, 0xdef);
  EXPECT_THAT(control_.log, ElementsAre("release 101"));
}

TEST_F(Engine, WipesByAnotherProcessWhileTheBuilderStands) {
  FaultPlan fault;
  fault.kind = FaultKind::wipe;
  fault.who = Victim::other;
  fault.point = Point::compile;
  plan(fault);
  compile(0);
  EXPECT_THAT(control_.log, ElementsAre("remove ", "release 100"));
  EXPECT_TRUE(engine_->killed().empty());
}

}  // namespace
}  // namespace jitrace
