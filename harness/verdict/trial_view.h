#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/history.h"
#include "plan/plan.h"
#include "strategy/preset.h"

namespace jitrace {

// How a process left the trial.
enum class Ended { not_seen, by_itself, by_plan, by_clean_up };

struct WorkerFact {
  Slot slot = 0;
  int index = 0;                         // within its round, from 0
  int round = 1;
  const Preset* preset = nullptr;        // none: a user's command
  std::uint32_t pid = 0;
  bool announced = false;                // wrote `ready`
  Nanoseconds last_sign = 0;             // its last own event
  Ended how = Ended::not_seen;
  std::optional<Nanoseconds> ended;
  int status = 0;                        // as waitpid gives it
  std::optional<Nanoseconds> killed;     // when the plan killed it
  bool stopped_for_ever = false;         // by the plan
  bool hang_proved = false;
  Outcome outcome = Outcome::none;       // exactly one, first cause first
  std::string error;                     // its own words

  bool survivor() const { return !killed && !stopped_for_ever; }
};

struct AttemptFact {
  std::uint64_t id = 0;
  std::uint16_t key = 0;
  Slot slot = driver_slot;               // who built: a worker, or the daemon
  Nanoseconds begin = 0;
  std::optional<Nanoseconds> end;
  std::int64_t status = -1;              // of the compiler; -1: it never ran
  std::string output;                    // what the compiler said
  bool compiled = true;                  // a compiler worked: not a ninja that found no work to do
  bool succeeded() const { return end && status == 0 && compiled; }
};

struct ToolFact {
  Slot slot = driver_slot;
  std::uint32_t pid = 0;
  std::uint64_t attempt = 0;
  ToolRole role = ToolRole::none;
  std::string arguments;
};

struct OutputFact {
  Nanoseconds stamp = 0;
  std::uint64_t attempt = 0;
  std::int64_t phase = 0;                // 1 begins, 2 half, 3 done
  std::string path;
};

struct LoadFact {
  Nanoseconds stamp = 0;
  Slot slot = 0;
  std::uint16_t key = 0;
  int get = 0;                           // of this worker and key, from 0
  std::int64_t code = 0;                 // LoadCode
  std::int64_t flags = 0;                // LoadFlags
  std::uint64_t attempt = 0;
  std::string message;
  bool last_of_get = true;               // what the caller was left with; earlier ones were retried
  bool correct() const { return code == 0 && (flags & load_intact) != 0 && (flags & load_right_key) != 0; }
  bool simulated() const { return (flags & load_simulated) != 0; }
};

// From lock_held to the end of ownership: unlock, or the owner's last sign of life. A stopped owner still owns.
struct HoldFact {
  std::string path;
  std::int64_t inode = 0;
  std::uint16_t key = 0;
  Slot slot = 0;
  Nanoseconds begin = 0, end = 0;
  std::string ended_by;                  // "unlock", "its end", "the kill", "nothing: it was stopped"
};

struct WaitFact {
  Slot slot = 0;
  std::uint16_t key = 0;
  ConditionKind condition = ConditionKind::none;
  Nanoseconds bound = 0;
  std::string path;
  Nanoseconds begin = 0;
  std::optional<Nanoseconds> end;
  WaitEnd how = WaitEnd::satisfied;
};

struct FaultFact {
  Nanoseconds stamp = 0;
  Slot slot = driver_slot;
  std::uint32_t pid = 0;
  std::size_t index = 0;                 // in the plan
  std::string text;
};

// One history, read once into the nouns that the oracles speak of. Holds references: the plan and the history outlive
// it.
class TrialView {
 public:
  TrialView(const Plan& plan, const History& history);

  const Plan& plan;
  const History& history;
  Nanoseconds begin = 0, end = 0;        // of the trial's first and last event
  std::map<Slot, WorkerFact> workers;
  std::vector<AttemptFact> attempts;
  std::vector<ToolFact> tools;
  std::vector<OutputFact> outputs;
  std::vector<LoadFact> loads;
  std::vector<HoldFact> holds;
  std::vector<WaitFact> waits;
  std::vector<FaultFact> faults;         // fired
  bool watchdog = false;

  const WorkerFact* worker(Slot slot) const;
  const AttemptFact* attempt(std::uint64_t id) const;
  const FaultPlan* planned(const FaultFact& fault) const;
  const FaultFact* first_kill() const;
  // The worker or daemon that a fault met: the victim itself, or the builder whose tool it was.
  Slot owner_of(const FaultFact& fault) const;
  bool hit_by_plan(Slot slot) const;     // it, or one of its tools
  // When a worker or a tool was gone; nothing while it lived to the end.
  std::optional<Nanoseconds> gone(Slot slot) const;
  int round_at(Nanoseconds stamp) const;
  bool daemon(std::uint32_t pid) const;
  bool explained(Slot slot) const;       // a worker whose end the plan caused: by killing it, or its compiler
  std::string kernel(std::uint16_t key) const;

  // For evidence: "worker 3", "worker 3 of round 2"; "+12.3 ms" since the trial began.
  std::string who(Slot slot) const;
  std::string when(Nanoseconds stamp) const;

 private:
  void read_processes();
  void read_work();
  void read_attempts();
  void close_holds(std::vector<HoldFact>& open);
  void decide_outcomes();
  std::vector<std::pair<int, Nanoseconds>> rounds_;
};

bool kills(FaultKind kind);
bool hits_tool(const FaultPlan& fault);  // a process of a build, and not the worker

}  // namespace jitrace
