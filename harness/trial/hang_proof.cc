#include "trial/hang_proof.h"

#include <algorithm>
#include <set>

namespace jitrace {
namespace {

class Prover {
 public:
  Prover(const World& world, const HangFacts& facts) : world_(world), facts_(facts) {
    for (const auto& [slot, worker] : world.workers()) {
      if (!worker.ended && worker.pid > 0) by_pid_[worker.pid] = slot;
    }
    for (const auto& [slot, worker] : world.workers()) {
      if (worker.pid > 0) trial_pids_.insert(worker.pid);
    }
    for (const Descendant& descendant : facts.descendants) {
      processes_[descendant.pid] = &descendant;
      trial_pids_.insert(descendant.pid);
    }
  }

  HangProof run() {
    HangProof proof;
    bool any = false;
    for (const auto& [slot, worker] : world_.workers()) {
      if (worker.ended || !worker.started) continue;
      any = true;
      if (!take(proof, of_worker(worker))) return proof;
    }
    if (!any) return proof;
    for (const Descendant& descendant : facts_.descendants) {
      if (by_pid_.contains(descendant.pid) || descendant.state == 'Z' || descendant.state == 'X') continue;
      const Standing standing = of_tool(descendant.pid, 0);
      const std::string text = "process " + std::to_string(descendant.pid) + " runs: " + descendant.arguments;
      if (!take(proof, {standing, text})) return proof;
    }
    if (on_plan_) {
      proof.standing = Standing::on_plan;
      return proof;
    }
    proof.standing = Standing::nobody;
    proof.blocked_by.clear();
    for (const auto& [slot, worker] : world_.workers()) {
      if (!worker.ended && worker.started && !worker.stopped) proof.hung.push_back(explain(worker));
    }
    return proof;
  }

  Standing orphans() const {
    bool on_plan = false;
    for (const Descendant& descendant : facts_.descendants) {
      if (descendant.state == 'Z' || descendant.state == 'X') continue;
      const Standing standing = of_tool(descendant.pid, 0);
      if (standing == Standing::moving) return standing;
      on_plan = on_plan || standing == Standing::on_plan;
    }
    return on_plan ? Standing::on_plan : Standing::nobody;
  }

 private:
  struct Judged {
    Standing standing = Standing::nobody;
    std::string why;
  };

  // False: somebody moves, and that is all there is to know.
  bool take(HangProof& proof, const Judged& judged) {
    if (judged.standing == Standing::nobody) return true;
    if (proof.blocked_by.empty() || judged.standing == Standing::moving) proof.blocked_by = judged.why;
    on_plan_ = on_plan_ || judged.standing == Standing::on_plan;
    return judged.standing == Standing::on_plan;
  }

  Judged of_worker(const WorkerState& worker) const {
    const std::string self = world_.name(worker.slot);
    if (worker.stopped) return worker.continue_planned ? Judged{Standing::on_plan, self + " will be continued"} : Judged{};
    if (worker.held) return {Standing::on_plan, self + " is held at a gate"};
    if (!worker.wait) return {Standing::moving, self + " is not waiting"};
    const Wait& wait = *worker.wait;
    if (wait.bound != 0) return {Standing::moving, self + " waits with a bound"};
    switch (wait.kind) {
      case ConditionKind::absent:
        if (!facts_.exists(wait.path)) return {Standing::moving, wait.path + " is gone, " + self + " will see it"};
        return {};
      case ConditionKind::flock:
        if (facts_.moved_on && facts_.moved_on(worker)) return {Standing::moving, self + " will open another " + wait.path};
        if (holders(wait.target).empty()) return {Standing::moving, "nobody holds " + wait.path};
        for (const HeldLock* lock : holders(wait.target)) {
          // It has the lock and only has not said so yet.
          if (lock->pid == worker.pid) return {Standing::moving, self + " has just taken " + wait.path};
        }
        return {};
      case ConditionKind::child: {
        const Standing child = of_tool(static_cast<pid_t>(wait.target), 0);
        return {child, self + " waits for a child that runs"};
      }
      case ConditionKind::reply:
        // Who would answer is a process of the trial: alive, it blocks the proof itself; gone, the connection ends.
        return {};
      case ConditionKind::none:
      case ConditionKind::gate:
        break;
    }
    return {Standing::moving, self + " waits for something that is not known"};
  }

  // Stopped, at a gate of ours, or asleep in a wait for children that all are.
  Standing of_tool(pid_t pid, int depth) const {
    const auto found = processes_.find(pid);
    if (found == processes_.end() || depth > 64) return Standing::moving;
    for (const ToolState& tool : world_.tools()) {
      if (tool.pid == pid && (tool.held || tool.continue_planned)) return Standing::on_plan;
    }
    const Descendant& process = *found->second;
    if (process.state == 'T' || process.state == 't') return Standing::nobody;
    if (process.state != 'S' && process.state != 'D') return Standing::moving;
    bool any = false, on_plan = false;
    for (const Descendant& child : facts_.descendants) {
      if (child.parent != pid || child.state == 'Z') continue;
      const Standing below = of_tool(child.pid, depth + 1);
      if (below == Standing::moving) return Standing::moving;
      any = true;
      on_plan = on_plan || below == Standing::on_plan;
    }
    if (!any) return Standing::moving;
    return on_plan ? Standing::on_plan : Standing::nobody;
  }

  // Taken by a process of the trial, dead or not: files of other file systems have the same numbers, and who holds those
  // is nobody's owner here. The device does not tell them apart: that of /proc/locks is not what stat says on btrfs.
  // An OFD lock names no process, so nothing is proved of it.
  std::vector<const HeldLock*> holders(std::uint64_t inode) const {
    std::vector<const HeldLock*> found;
    for (const HeldLock& lock : facts_.locks) {
      if (lock.inode == inode && !lock.waiting && trial_pids_.contains(lock.pid)) found.push_back(&lock);
    }
    return found;
  }

  HungWorker explain(const WorkerState& worker) const {
    HungWorker hung{worker.slot, HangCause::live_stuck_owner, world_.name(worker.slot)};
    std::set<Slot> seen;
    follow(worker, hung, seen);
    return hung;
  }

  // Walks from a waiter to what it waits for, and on, until the chain ends.
  void follow(const WorkerState& worker, HungWorker& hung, std::set<Slot>& seen) const {
    if (!seen.insert(worker.slot).second) {
      hung.cause = HangCause::cycle;
      return;
    }
    if (worker.stopped) {
      hung.cause = HangCause::live_stuck_owner;
      hung.chain += " is stopped";
      return;
    }
    const Wait& wait = *worker.wait;
    if (wait.kind == ConditionKind::absent) {
      hung.chain += " waits until " + wait.path + " is gone";
      const auto owner = facts_.owners.find(wait.path);
      if (owner == facts_.owners.end()) {
        hung.cause = HangCause::stale_owner;
        hung.chain += "; it lay there before the trial and has no owner";
        return;
      }
      follow_owner(owner->second, hung, seen);
    } else if (wait.kind == ConditionKind::flock) {
      hung.chain += " waits for the lock on " + wait.path;
      const HeldLock& lock = *holders(wait.target).front();
      const auto owner = by_pid_.find(lock.pid);
      if (owner != by_pid_.end()) {
        follow_owner(owner->second, hung, seen);
      } else {
        hung.cause = HangCause::inherited_descriptor;
        hung.chain += "; taken by process " + std::to_string(lock.pid) + ", which has ended, and kept by whoever inherited it (" +
                      lock.line + ")";
      }
    } else {
      hung.cause = HangCause::live_stuck_owner;
      hung.chain += " waits for process " + std::to_string(wait.target) + ", which is stopped or waits for one that is";
    }
  }

  void follow_owner(Slot owner, HungWorker& hung, std::set<Slot>& seen) const {
    const auto found = world_.workers().find(owner);
    if (found == world_.workers().end()) return;
    const auto end = facts_.ends.find(owner);
    if (found->second.ended) {
      hung.cause = HangCause::stale_owner;
      hung.chain += "; made by " + world_.name(owner) + " (pid " + std::to_string(found->second.pid) + "), which has ended: " +
                    (end == facts_.ends.end() ? "unknown" : end->second);
      return;
    }
    hung.chain += ", held by " + world_.name(owner) + ", which";
    follow(found->second, hung, seen);
  }

  const World& world_;
  const HangFacts& facts_;
  std::map<pid_t, Slot> by_pid_;
  std::map<pid_t, const Descendant*> processes_;
  std::set<pid_t> trial_pids_;  // of all who are or were in it
  bool on_plan_ = false;
};

}  // namespace

HangProof prove_hang(const World& world, const HangFacts& facts) { return Prover(world, facts).run(); }

Standing standing_of_orphans(const World& world, const std::vector<Descendant>& orphans) {
  HangFacts facts;
  facts.descendants = orphans;
  return Prover(world, facts).orphans();
}

}  // namespace jitrace
