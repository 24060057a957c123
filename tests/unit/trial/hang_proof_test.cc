#include "trial/hang_proof.h"

#include <gtest/gtest.h>

namespace jitrace {
namespace {

class HangProofTest : public testing::Test {
 protected:
  HangProofTest() {
    facts_.exists = [this](const std::string& path) { return present_.contains(path); };
  }
  void add(Slot slot, pid_t pid) {
    world_.add_worker(slot, 1, 0);
    world_.worker(slot)->started = true;
    world_.worker(slot)->pid = pid;
    facts_.descendants.push_back({pid, 1, 'S', 0, "worker", "hrtimer_nanosleep"});
  }
  void end(Slot slot, pid_t pid) {
    world_.add_worker(slot, 1, 0);
    world_.worker(slot)->started = world_.worker(slot)->ended = true;
    world_.worker(slot)->pid = pid;
  }
  void wait(Slot slot, ConditionKind kind, const std::string& path, std::uint64_t target = 0, Nanoseconds bound = 0) {
    world_.worker(slot)->wait = Wait{kind, 1, bound, target, path};
  }
  void lock(std::uint64_t inode, pid_t pid) {
    HeldLock held;
    held.kind = "FLOCK";
    held.pid = pid;
    held.inode = inode;
    facts_.locks.push_back(held);
  }
  HangProof prove() const { return prove_hang(world_, facts_); }

  World world_;
  HangFacts facts_;
  std::set<std::string> present_;
};

TEST_F(HangProofTest, ABatonWhoseOwnerIsDeadHangsItsWaiters) {
  add(0, 100);
  add(1, 101);
  world_.worker(0)->ended = true;
  wait(1, ConditionKind::absent, "k/lock");
  present_ = {"k/lock"};
  facts_.owners["k/lock"] = 0;
  facts_.ends[0] = "killed by SIGKILL, as planned";
  facts_.descendants.erase(facts_.descendants.begin());
  const HangProof proof = prove();
  ASSERT_TRUE(proof.proved()) << proof.blocked_by;
  ASSERT_EQ(proof.hung.size(), 1U);
  EXPECT_EQ(proof.hung[0].cause, HangCause::stale_owner);
  EXPECT_NE(proof.hung[0].chain.find("killed by SIGKILL"), std::string::npos) << proof.hung[0].chain;
}

TEST_F(HangProofTest, ABatonThatIsGoneIsNoHang) {
  add(0, 100);
  wait(0, ConditionKind::absent, "k/lock");
  EXPECT_FALSE(prove().proved());
}

TEST_F(HangProofTest, ALiveCompilerBlocksTheProof) {
  add(0, 100);
  wait(0, ConditionKind::absent, "k/lock");
  present_ = {"k/lock"};
  facts_.descendants.push_back({200, 1, 'R', 0, "cicc", ""});
  const HangProof proof = prove();
  EXPECT_FALSE(proof.proved());
  EXPECT_NE(proof.blocked_by.find("cicc"), std::string::npos);
}

TEST_F(HangProofTest, AStoppedCompilerDoesNotAndItsBuilderIsStuck) {
  add(0, 100);
  add(1, 101);
  wait(0, ConditionKind::child, "", 200);
  wait(1, ConditionKind::flock, "k/build.lock", 7);
  lock(7, 100);
  facts_.descendants.push_back({200, 100, 'S', 0, "nvcc", "do_wait"});
  facts_.descendants.push_back({201, 200, 'T', 0, "cicc", "do_signal_stop"});
  const HangProof proof = prove();
  ASSERT_TRUE(proof.proved()) << proof.blocked_by;
  EXPECT_EQ(proof.hung[1].cause, HangCause::live_stuck_owner);
}

TEST_F(HangProofTest, ABoundedWaiterIsNoHang) {
  add(0, 100);
  wait(0, ConditionKind::flock, "k.lock", 7, seconds(600));
  lock(7, 99);
  EXPECT_FALSE(prove().proved());
}

TEST_F(HangProofTest, AFreeLockIsNoHang) {
  add(0, 100);
  wait(0, ConditionKind::flock, "k/build.lock", 7);
  EXPECT_FALSE(prove().proved());
}

TEST_F(HangProofTest, WhoHasJustTakenTheLockIsNotHungWhateverItSaidLast) {
  add(0, 100);
  add(1, 101);
  wait(0, ConditionKind::flock, "k/lock", 7);
  wait(1, ConditionKind::flock, "k/lock", 7);
  lock(7, 101);
  EXPECT_EQ(prove().standing, Standing::moving);
}

TEST_F(HangProofTest, ALockWhoseTakerIsDeadWasInherited) {
  add(0, 100);
  wait(0, ConditionKind::flock, "k.lock", 7);
  end(1, 99);
  lock(7, 99);
  facts_.descendants.push_back({200, 1, 'T', 0, "sh -c nvcc", ""});
  const HangProof proof = prove();
  ASSERT_TRUE(proof.proved()) << proof.blocked_by;
  EXPECT_EQ(proof.hung[0].cause, HangCause::inherited_descriptor);
}

TEST_F(HangProofTest, ALockOfTheSameNumberElsewhereIsNobodysOwner) {
  add(0, 100);
  wait(0, ConditionKind::flock, "k.lock", 7);
  lock(7, 99);  // not of the trial: a file on another file system
  EXPECT_EQ(prove().standing, Standing::moving);
}

TEST_F(HangProofTest, WhoWillOpenAnotherFileIsNotHungOnThisOne) {
  add(0, 100);
  end(1, 99);
  wait(0, ConditionKind::flock, "k.lock", 7);
  lock(7, 99);
  EXPECT_TRUE(prove().proved());
  facts_.moved_on = [](const WorkerState&) { return true; };
  EXPECT_EQ(prove().standing, Standing::moving);
}

TEST_F(HangProofTest, TheChainGoesThroughAWaitingOwnerToTheDeadOne) {
  // Worker 1 holds the outer flock and waits for the baton that worker 0 left; worker 2 waits for the flock.
  add(0, 100);
  add(1, 101);
  add(2, 102);
  world_.worker(0)->ended = true;
  facts_.descendants.erase(facts_.descendants.begin());
  wait(1, ConditionKind::absent, "k/lock");
  present_ = {"k/lock"};
  facts_.owners["k/lock"] = 0;
  wait(2, ConditionKind::flock, "k/build.lock", 7);
  lock(7, 101);
  const HangProof proof = prove();
  ASSERT_TRUE(proof.proved()) << proof.blocked_by;
  EXPECT_EQ(proof.hung[1].slot, 2);
  EXPECT_EQ(proof.hung[1].cause, HangCause::stale_owner) << proof.hung[1].chain;
}

TEST_F(HangProofTest, TwoThatWaitForEachOtherAreACycle) {
  add(0, 100);
  add(1, 101);
  wait(0, ConditionKind::flock, "b", 2);
  wait(1, ConditionKind::flock, "a", 1);
  lock(1, 100);
  lock(2, 101);
  const HangProof proof = prove();
  ASSERT_TRUE(proof.proved());
  EXPECT_EQ(proof.hung[0].cause, HangCause::cycle);
}

TEST_F(HangProofTest, AStoppedOwnerThatWillBeContinuedBlocksTheProof) {
  add(0, 100);
  add(1, 101);
  world_.worker(0)->stopped = true;
  world_.worker(0)->continue_planned = true;
  wait(1, ConditionKind::flock, "a", 1);
  lock(1, 100);
  EXPECT_FALSE(prove().proved());
  world_.worker(0)->continue_planned = false;
  EXPECT_TRUE(prove().proved());
}

TEST_F(HangProofTest, SomebodyHeldAtAGateIsNoHang) {
  add(0, 100);
  wait(0, ConditionKind::absent, "k/lock");
  present_ = {"k/lock"};
  world_.worker(0)->held = true;
  EXPECT_EQ(prove().standing, Standing::on_plan);
}

TEST_F(HangProofTest, AToolAtOurGateAndAllWhoWaitForItHangOnThePlan) {
  add(0, 100);
  wait(0, ConditionKind::child, "", 200);
  facts_.descendants.push_back({200, 100, 'S', 0, "nvcc", "do_wait"});
  facts_.descendants.push_back({201, 200, 'S', 0, "cicc", "futex_wait"});
  EXPECT_EQ(prove().standing, Standing::moving);
  Event begin;
  begin.kind = EventKind::tool_begin;
  begin.slot = 50;
  begin.pid = 201;
  world_.apply(begin);
  world_.tools().back().held = true;
  EXPECT_EQ(prove().standing, Standing::on_plan);
}

TEST_F(HangProofTest, WhoIsStoppedByThePlanAloneIsNoHang) {
  add(0, 100);
  world_.worker(0)->stopped = true;
  const HangProof proof = prove();
  EXPECT_EQ(proof.standing, Standing::nobody);
  EXPECT_FALSE(proof.proved());
}

TEST_F(HangProofTest, AStoppedWorkerToBeContinuedDoesNotHideALiveCompiler) {
  add(0, 100);
  add(1, 101);
  world_.worker(1)->stopped = true;
  world_.worker(1)->continue_planned = true;
  wait(0, ConditionKind::child, "", 200);
  facts_.descendants.push_back({200, 100, 'R', 0, "nvcc", ""});
  EXPECT_EQ(prove().standing, Standing::moving);
}

TEST_F(HangProofTest, AStoppedToolThatWillBeContinuedBlocksTheProof) {
  add(0, 100);
  wait(0, ConditionKind::child, "", 200);
  facts_.descendants.push_back({200, 100, 'T', 0, "nvcc", "do_signal_stop"});
  EXPECT_TRUE(prove().proved());
  Event begin;
  begin.kind = EventKind::tool_begin;
  begin.slot = 50;
  begin.pid = 200;
  world_.apply(begin);
  world_.tools().back().continue_planned = true;
  EXPECT_EQ(prove().standing, Standing::on_plan);
}

TEST_F(HangProofTest, OrphansThatAreStoppedForEverAreNobody) {
  std::vector<Descendant> orphans = {{200, 1, 'S', 0, "sh -c nvcc", "do_wait"},
                                     {201, 200, 'T', 0, "nvcc", "do_signal_stop"}};
  EXPECT_EQ(standing_of_orphans(world_, orphans), Standing::nobody);
  orphans.push_back({202, 1, 'S', 0, "cicc", "pipe_read"});
  EXPECT_EQ(standing_of_orphans(world_, orphans), Standing::moving);
}

TEST_F(HangProofTest, NobodyLeftIsNoHang) { EXPECT_FALSE(prove().proved()); }

}  // namespace
}  // namespace jitrace
