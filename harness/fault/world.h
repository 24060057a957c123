#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "event/event.h"

namespace jitrace {

// What a worker said it waits for.
struct Wait {
  ConditionKind kind = ConditionKind::none;
  Nanoseconds since = 0;
  Nanoseconds bound = 0;   // 0: none
  std::uint64_t target = 0;  // inode of the lock, pid of the child
  std::string path;
};

struct WorkerState {
  Slot slot = 0;
  int round = 1;
  pid_t pid = -1;
  int client = 0;
  bool started = false;
  bool ready = false;
  bool ended = false;
  bool stopped = false;          // by the plan, and not continued
  bool continue_planned = false;
  bool held = false;             // waits at a gate for our order
  Point gate = Point::none;
  std::optional<Wait> wait;
  std::uint64_t attempt = 0;     // the last it began
  bool compiling = false;        // between attempt_begin and attempt_end
  bool loaded = false;           // has loaded something at least once, well
  Nanoseconds last_sign = 0;
};

struct ToolState {
  Slot slot = driver_slot;
  pid_t pid = -1;
  pid_t parent = -1;
  ToolRole role = ToolRole::none;
  std::uint64_t attempt = 0;
  bool held = false;
  Point gate = Point::none;
  bool stopped = false;
  bool continue_planned = false;  // stopped by the plan, for a while
};

// The state of a trial as its events tell it: who lives, who builds for whom, who waits for what, who stands at a gate.
// Fed with every event in order; knows no process and no clock.
class World {
 public:
  void add_worker(Slot slot, int round, int client);
  void apply(const Event& event);

  WorkerState* worker(Slot slot);
  ToolState* tool(Slot slot);
  const std::map<Slot, WorkerState>& workers() const { return workers_; }
  std::map<Slot, WorkerState>& workers() { return workers_; }
  const std::vector<ToolState>& tools() const { return tools_; }
  std::vector<ToolState>& tools() { return tools_; }

  // The worker for which this event's process acts: itself, or the builder whose attempt a tool carries. Nobody for
  // what a daemon builds.
  std::optional<Slot> actor(const Event& event) const;
  std::optional<Slot> builder_of(std::uint64_t attempt) const;
  // By ticket, from 1: the k-th worker of the trial that passed lock_held (spawn, where it takes no lock); 0: none.
  int builder_ticket(Slot slot) const;
  // Likewise for those that passed lock_wait.
  int waiter_ticket(Slot slot) const;
  // How many workers besides this one wait at this moment.
  int waiting_besides(Slot slot) const;
  // "worker 3", "worker 1 of round 2", counted from 1 as faults count them.
  std::string name(Slot slot) const;
  // Those who passed probe or beyond of this key in any round.
  bool all_ended(int round) const;

 private:
  std::map<Slot, WorkerState> workers_;
  std::vector<ToolState> tools_;
  std::map<std::uint64_t, Slot> attempts_;
  std::vector<Slot> builders_;
  std::vector<Slot> waiters_;
};

}  // namespace jitrace
