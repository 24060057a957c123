#include "search/sweep_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace jitrace {
namespace {

using testing::ElementsAre;

// A builder that takes a baton, lets a compiler write, and gives the baton back.
class SweepPlans : public testing::Test {
 protected:
  SweepPlans() {
    start(0, -1, "A");
    call(0, "stat lock", -2, 0);
    call(0, "open lock O_CREAT|O_EXCL", 3, 1);
    start(1, 0, "A/cc");
    call(1, "open k.so O_CREAT|O_TRUNC", 3, 1);
    for (int i = 0; i < 5; ++i) call(1, "write k.so", 10, 1);
    end(1);
    call(0, "unlink lock", 0, 1);
    end(0);
    recording_ = recording_of(history_);
    classes_ = kill_classes(recording_, Writes::ends);
    base_.command = {"builder", "{cache}"};
  }
  Event& event(EventKind kind, Slot slot) {
    Event made;
    made.kind = kind;
    made.slot = slot;
    made.key = 1;
    history_.events.push_back(made);
    return history_.events.back();
  }
  void start(Slot slot, int parent, const std::string& role) {
    Event& started = event(EventKind::process_started, slot);
    started.a = parent;
    started.text = role + "|" + role;
  }
  void end(Slot slot) { event(EventKind::process_ended, slot); }
  void call(Slot slot, const std::string& what, std::int64_t result, std::int64_t changed) {
    Event& made = event(EventKind::call, slot);
    made.a = result;
    made.b = changed;
    made.text = what;
  }
  const KillClass& at(const std::string& step) const {
    for (const KillClass& one : classes_) {
      if (one.step.text() == step) return one;
    }
    ADD_FAILURE() << "no class " << step;
    return classes_.front();
  }

  History history_;
  Recording recording_;
  std::vector<KillClass> classes_;
  TracePlan base_;
};

TEST_F(SweepPlans, OrphansAreThereWhileTheCompilerLives) {
  EXPECT_FALSE(leaves_orphans(history_, classes_.front()));
  EXPECT_FALSE(leaves_orphans(history_, at("after A: open lock O_CREAT|O_EXCL")));
  EXPECT_TRUE(leaves_orphans(history_, at("after A/cc: open k.so O_CREAT|O_TRUNC")));
  EXPECT_TRUE(leaves_orphans(history_, at("after A/cc: write k.so (5)")));
  EXPECT_FALSE(leaves_orphans(history_, at("after A: unlink lock")));
}

TEST_F(SweepPlans, AKillNamesItsStepAndTheWayThere) {
  const KillClass& last = at("after A/cc: write k.so (5)");
  const TracePlan plan = kill_plan(base_, recording_, last, SweepColumn::builder_orphan_held);
  EXPECT_EQ(plan.work, TraceWork::kill);
  EXPECT_EQ(plan.step, last.step);
  EXPECT_EQ(plan.who, Victim::builder);
  EXPECT_EQ(plan.order, OrphanOrder::held);
  EXPECT_THAT(plan.steps, ElementsAre("A: open lock O_CREAT|O_EXCL", "A/cc: open k.so O_CREAT|O_TRUNC", "A/cc: write k.so"));
  EXPECT_EQ(plan.command, base_.command);
  EXPECT_EQ(kill_plan(base_, recording_, last, SweepColumn::tree).who, Victim::tree);
}

TEST_F(SweepPlans, ACopyTellsAllUnlessAFileIsMapped) {
  for (const KillClass& one : classes_) EXPECT_TRUE(copy_tells_all(history_, one));
  History mapped;
  const auto add = [&mapped](EventKind kind, Slot slot, const std::string& text, std::int64_t result = 0) {
    Event event;
    event.kind = kind;
    event.slot = slot;
    event.text = text;
    event.a = result;
    mapped.events.push_back(event);
  };
  add(EventKind::call, 0, "map k MAP_SHARED", -12);  // failed
  add(EventKind::call, 1, "map k MAP_SHARED", 0x7f0000000000);
  add(EventKind::call, 0, "write k", 5);
  add(EventKind::process_ended, 1, "");
  add(EventKind::call, 0, "write k", 5);
  const auto at = [&mapped](std::size_t call) {
    KillClass one;
    one.call = call;
    return copy_tells_all(mapped, one);
  };
  EXPECT_TRUE(at(0));
  EXPECT_FALSE(at(1));
  EXPECT_FALSE(at(2));
  EXPECT_TRUE(at(3));
}

TEST_F(SweepPlans, WhoTakesALockOfTheDeadAwayIsKnown) {
  const auto recovery = [](const std::vector<std::string>& changes) {
    History history;
    for (const std::string& what : changes) {
      Event event;
      event.kind = EventKind::call;
      event.text = what;
      event.b = 1;
      history.events.push_back(event);
    }
    return history;
  };
  EXPECT_FALSE(takes_a_lock_away(recording_, recovery({"open lock O_CREAT|O_EXCL", "unlink lock"}))) << "its own";
  EXPECT_FALSE(takes_a_lock_away(recording_, recovery({"open k.so O_CREAT|O_TRUNC", "unlink k.so"}))) << "no lock";
  EXPECT_TRUE(takes_a_lock_away(recording_, recovery({"unlink lock", "open lock O_CREAT|O_EXCL"})));
  EXPECT_TRUE(takes_a_lock_away(recording_, recovery({"rename lock -> lock.#"})));
  EXPECT_TRUE(takes_a_lock_away(recording_, recovery({"open lock O_CREAT|O_TRUNC"})));
  EXPECT_TRUE(takes_a_lock_away(recording_, recovery({"utime lock"})));
  EXPECT_TRUE(takes_a_lock_away(recording_, recovery({"rename own.# -> lock"}))) << "put in its place";
  History looked = recovery({"unlink lock"});
  looked.events[0].b = 0;
  EXPECT_FALSE(takes_a_lock_away(recording_, looked)) << "it failed";
  for (const char* made : {"mkdir lock.d", "link own.# -> lock.d", "symlink lock.d"}) {
    SCOPED_TRACE(made);
    Recording builder;
    for (const char* what : {made, "rmdir lock.d"}) builder.calls.push_back({.what = what, .changed = true});
    EXPECT_TRUE(takes_a_lock_away(builder, recovery({"rmdir lock.d"})));
  }
}

TEST_F(SweepPlans, RolesThatTwoHadAtATimeAreKnown) {
  EXPECT_THAT(concurrent_roles(history_), testing::IsEmpty());
  History siblings;
  const auto add = [&siblings](EventKind kind, Slot slot, const std::string& role) {
    Event event;
    event.kind = kind;
    event.slot = slot;
    event.text = role + "|argv";
    siblings.events.push_back(event);
  };
  add(EventKind::process_started, 0, "A");
  add(EventKind::process_started, 1, "A/sh");
  add(EventKind::process_ended, 1, "");
  add(EventKind::process_started, 2, "A/sh");  // one after the other
  add(EventKind::process_started, 3, "A/cc");
  add(EventKind::process_started, 4, "A/A");   // forked …
  add(EventKind::process_started, 4, "A/cc");  // … and another program since
  EXPECT_THAT(concurrent_roles(siblings), ElementsAre("A/cc"));
}

TEST(References, AFreshOneOnWhatIsLeftAndAnotherWorkerWhereItIsNamed) {
  TracePlan plan;
  plan.command = {"sh", "-c", "echo {cache}"};
  const auto plain = varied_recordings(plan);
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].fresh, 1);
  EXPECT_EQ(TracePlan::parse(plain[0].text()).value().fresh, 1);
  plan.command = {"loader", "--rank={worker}/{worker}", "{cache}"};
  const auto both = varied_recordings(plan);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].command, plan.command);
  EXPECT_THAT(both[1].command, ElementsAre("loader", "--rank=1/1", "{cache}"));
}

TEST_F(SweepPlans, EveryClassButTheFirstNeedsASnapshot) {
  const auto moments = snapshot_moments(classes_);
  ASSERT_EQ(moments.size(), classes_.size() - 1);
  for (std::size_t i = 0; i < moments.size(); ++i) EXPECT_EQ(moments[i], classes_[i + 1].step);
  EXPECT_TRUE(recover_plan(base_, recording_, classes_.front(), "").steps.empty());
  EXPECT_EQ(recover_plan(base_, recording_, classes_[1], "/snap/0").restore, "/snap/0");
}

TEST(RowsToConfirm, ATenthAtLeastOneAndByTheSeed) {
  EXPECT_TRUE(rows_to_confirm(0, 1).empty());
  EXPECT_EQ(rows_to_confirm(7, 1).size(), 1u);
  EXPECT_EQ(rows_to_confirm(100, 1).size(), 10u);
  EXPECT_EQ(rows_to_confirm(100, 1), rows_to_confirm(100, 1));
  EXPECT_NE(rows_to_confirm(100, 1), rows_to_confirm(100, 2));
  const auto rows = rows_to_confirm(100, 3);
  EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), 10u);
  EXPECT_LT(rows.back(), 100u);
}

}  // namespace
}  // namespace jitrace
