#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event/event.h"

namespace jitrace {

// What a waiter waits for, as the hang proof needs it.
struct Condition {
  ConditionKind kind = ConditionKind::none;
  std::string path;          // absent, flock: the lock file; reply: the socket
  std::uint64_t number = 0;  // flock: the inode; child: the pid
};

// Whom a strategy tells what it does. Strategies do not know who listens: a worker writes to the board of its trial,
// tests record.
class Probe {
 public:
  virtual ~Probe() = default;

  // The strategy is about to take the step (lock_held: has just taken it). Blocks while a gate holds the point, and
  // does not come back if the order is to exit.
  virtual void reach(Point point, std::string_view path, std::uint64_t inode) = 0;
  virtual void note(Event&& event) = 0;  // slot and key are filled in by the listener

  // A child that cannot announce itself: ninja, the shell of a popen.
  virtual void tool_begin(ToolRole role, std::uint32_t pid, std::string_view arguments) = 0;
  virtual void tool_end(std::uint32_t pid, int raw_status) = 0;

  // What the events from here on are about. 0: no attempt.
  virtual void set_key(std::uint16_t key) = 0;
  virtual void set_attempt(std::uint64_t attempt) = 0;

  void waiting(const Condition& condition, Nanoseconds bound);
  void wait_over(WaitEnd end);
  void file_op(std::string_view operation, std::string_view first, std::string_view second, int code);
  void warned(std::string_view text);
};

}  // namespace jitrace
