#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "event/board.h"
#include "event/event.h"

namespace jitrace {

// What a fault may do to a running trial. Gated trials answer it with gates and signals; a tracer will answer the same
// calls by holding and resuming system calls. Every call is carried out at once or fails with the reason.
class Control {
 public:
  virtual ~Control() = default;

  // Lets the process that waits in `slot` go on, or leave with `exit_137`.
  virtual void release(Slot slot, Order order) = 0;
  virtual Result<void> signal_worker(Slot slot, int number) = 0;
  // A tool of the trial, known from its own announcement, or any descendant of the guard.
  virtual Result<void> signal_tool(pid_t pid, int number) = 0;
  // Every process below `pid`, itself included, frozen first so that none escapes by forking.
  virtual Result<void> signal_tree(pid_t pid, int number) = 0;
  virtual Result<void> signal_group(Slot slot, int number) = 0;
  // Tells a worker that waits for its compiler to leave by _exit(137), compiler left behind.
  virtual Result<void> exit_137(Slot slot) = 0;
  // Gates a point from now on, or no longer.
  virtual void arm(Point point) = 0;
  virtual void disarm(Point point) = 0;
  // The driver's own record of the trial.
  virtual void note(Event event) = 0;
  // `path` is relative to the cache and may hold {entry} {artifact} {lock} {source} of key 0 as `slot`'s preset has them.
  virtual Result<void> damage_cache(const std::string& path, const std::string& how, Slot slot) = 0;
};

}  // namespace jitrace
