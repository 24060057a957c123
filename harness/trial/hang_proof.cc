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
    for (const Descendant& descendant : facts.descendants) processes_[descendant.pid] = &descendant;
  }

  HangProof run() {
    HangProof proof;
    for (const auto& [slot, worker] : world_.workers()) {
      if (worker.ended || !worker.started) continue;
      proof.blocked_by = why_not_stuck(worker);
      if (!proof.blocked_by.empty()) return proof;
    }
    for (const Descendant& descendant : facts_.descendants) {
      if (by_pid_.contains(descendant.pid) || descendant.state == 'Z' || descendant.state == 'X') continue;
      if (!tool_stuck(descendant.pid, 0)) {
        proof.blocked_by = "process " + std::to_string(descendant.pid) + " runs: " + descendant.arguments;
        return proof;
      }
    }
    for (const auto& [slot, worker] : world_.workers()) {
      if (!worker.ended && worker.started) proof.hung.push_back(explain(worker));
    }
    proof.proved = !proof.hung.empty();
    return proof;
  }

 private:
  static std::string name(Slot slot) { return "worker " + std::to_string(slot); }

  // Empty if this worker cannot go on unless another one lets it.
  std::string why_not_stuck(const WorkerState& worker) const {
    if (worker.stopped) return worker.continue_planned ? name(worker.slot) + " will be continued" : std::string();
    if (worker.held) return name(worker.slot) + " is held at a gate";
    if (!worker.wait) return name(worker.slot) + " is not waiting";
    const Wait& wait = *worker.wait;
    if (wait.bound != 0) return name(worker.slot) + " waits with a bound";
    switch (wait.kind) {
      case ConditionKind::absent:
        if (!facts_.exists(wait.path)) return wait.path + " is gone, " + name(worker.slot) + " will see it";
        return {};
      case ConditionKind::flock:
        if (holders(wait.target).empty()) return "nobody holds " + wait.path;
        return {};
      case ConditionKind::child:
        if (!tool_stuck(static_cast<pid_t>(wait.target), 0)) return name(worker.slot) + " waits for a child that runs";
        return {};
      case ConditionKind::reply:
        // Who would answer is a process of the trial: alive, it blocks the proof below; gone, the connection ends.
        return {};
      case ConditionKind::none:
      case ConditionKind::gate:
        break;
    }
    return name(worker.slot) + " waits for something that is not known";
  }

  // Stopped, or asleep in a wait for children that all are.
  bool tool_stuck(pid_t pid, int depth) const {
    const auto found = processes_.find(pid);
    if (found == processes_.end() || depth > 64) return false;
    const Descendant& process = *found->second;
    if (process.state == 'T' || process.state == 't') return true;
    if (process.state != 'S' && process.state != 'D') return false;
    bool any = false;
    for (const Descendant& child : facts_.descendants) {
      if (child.parent != pid || child.state == 'Z') continue;
      if (!tool_stuck(child.pid, depth + 1)) return false;
      any = true;
    }
    return any;
  }

  std::vector<const HeldLock*> holders(std::uint64_t inode) const {
    std::vector<const HeldLock*> found;
    for (const HeldLock& lock : facts_.locks) {
      if (lock.inode == inode && !lock.waiting) found.push_back(&lock);
    }
    return found;
  }

  HungWorker explain(const WorkerState& worker) const {
    HungWorker hung{worker.slot, HangCause::live_stuck_owner, name(worker.slot)};
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
      hung.chain += "; made by " + name(owner) + " (pid " + std::to_string(found->second.pid) + "), which has ended: " +
                    (end == facts_.ends.end() ? "unknown" : end->second);
      return;
    }
    hung.chain += ", held by " + name(owner) + ", which";
    follow(found->second, hung, seen);
  }

  const World& world_;
  const HangFacts& facts_;
  std::map<pid_t, Slot> by_pid_;
  std::map<pid_t, const Descendant*> processes_;
};

}  // namespace

HangProof prove_hang(const World& world, const HangFacts& facts) { return Prover(world, facts).run(); }

}  // namespace jitrace
