#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fault/world.h"
#include "plan/control.h"
#include "plan/plan.h"

namespace jitrace {

// Carries out the faults of one plan: arms their points, recognises the moment, fires, and keeps the order that was
// planned between an orphan and its successor. Every arrival at a gate is answered by exactly one release, at once or
// when what it is held for has happened. Owns nothing; the trial feeds it and carries out what it asks of Control.
class FaultEngine {
 public:
  FaultEngine(const Plan& plan, World& world, Control& control);

  // Before the first worker starts.
  void arm();
  // Every event of the trial, after World has seen it.
  void on_event(const Event& event);
  // Nobody can move but for those we hold or stopped for a while: lets the ones go that wait for something that can no
  // longer happen. False if there is nobody.
  bool release_stuck();
  // No tool of a killed builder is left.
  void on_orphans_gone();

  bool waits_for_orphans() const { return orphans_pending_; }
  // An orphan-held fault fired: one more load is due when all else is over.
  bool wants_reload() const { return reload_; }
  // Records a fault_missed for each fault that did not fire.
  void finish();
  const std::set<Slot>& killed() const { return killed_; }
  // Killed by the plan in another way (at a random moment).
  void mark_killed(Slot slot) { killed_.insert(slot); }
  void mark_spared(Slot slot) { killed_.erase(slot); }

 private:
  struct Armed {
    FaultPlan fault;
    int index = 0;
    int seen = 0;
    bool fired = false;
    Slot victim = driver_slot;
    pid_t tool = -1;      // where the victim is no worker
    bool stopped = false; // and not continued yet
    bool waits = false;   // in late_
  };
  // Somebody stands at the point and the fault cannot strike yet: the builder has still to say who the shell or the build
  // tool over it is, or too few others wait.
  struct Late {
    std::size_t armed = 0;
    Event arrival;
  };

  bool matches(const Armed& armed, const Event& arrival) const;
  void arrived(const Event& arrival);
  void fire(Armed& armed, const Event& arrival);
  bool too_early(const Armed& armed, const Event& arrival) const;
  int waiters_missing(const FaultPlan& fault, const Event& arrival) const;
  void fire_late(Late late);
  Result<std::string> act(Armed& armed, const Event& arrival, Slot actor);
  Result<std::string> kill(Armed& armed, const Event& arrival, Slot actor);
  pid_t tool_of(Victim who, const Event& arrival) const;
  bool holds_successors(const Event& arrival) const;
  void release_successors();
  void release_orphan();
  void continue_stopped(const Event& event);
  void go_on(Armed& armed);

  const Plan& plan_;
  World& world_;
  Control& control_;
  std::vector<Armed> armed_;
  std::set<Slot> killed_;
  bool orphans_pending_ = false;   // orphan-first: successors stand still until the tree has drained
  bool orphan_held_ = false;       // orphan-held: the tool in orphan_slot_ stands still
  Slot orphan_slot_ = driver_slot;
  std::vector<Slot> successors_;   // slots that we hold
  bool reload_ = false;
  std::vector<Late> late_;
};

}  // namespace jitrace
