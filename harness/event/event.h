#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "event/point.h"

namespace jitrace {

// Who wrote an event: workers have the slots 0, 1, 2 … over all rounds of a trial (round 2 goes on counting), then come
// the tools (compilers, stages, daemon) in the order in which they started.
using Slot = std::uint16_t;
inline constexpr Slot driver_slot = 0xffff;

// What happened. The comment names the fields that the kind uses beside stamp, slot, pid and key.
enum class EventKind : std::uint16_t {
  none,
  // Written by the driver.
  trial_begin,      // text: trial token
  round_begin,      // a: round, from 1
  round_end,        // a: round; b: 1 if it ended by a hang proof or the watchdog
  process_started,  // slot and pid of the worker; text: arguments
  process_adopted,  // pid of a descendant that outlived its parent; text: arguments; b: 2 if it was the
                    // clean-up after the trial was decided that ended the parent
  process_ended,    // slot (driver_slot for an adopted one), pid; a: wait status as waitpid gives it; b: 1 if the plan
                    // killed it, 2 if it was cleaned up after the trial was decided
  fault_fired,      // slot, pid: the victim; point; a: index in the plan; text: what was done
  fault_missed,     // a: index in the plan; text: why
  hang_proved,      // slot: a waiter; a: HangCause; b: round; text: the chain. One per hung worker
  watchdog,         // text: the dump; the trial is stalled
  settled,          // everything of the trial is accounted for
  // Written by a worker.
  ready,            // waits for the start
  released,         // first stamp after the wake
  get_begin,        // key
  get_end,          // key; a: Outcome
  reached,          // point; attempt; a: 1 if it waits at a gate; b: inode of the lock for lock points; text: path
  resumed,          // point: went on from its gate
  waiting,          // a: ConditionKind; b: bound in ns, 0 for none; attempt: inode or pid; text: path
  wait_over,        // a: WaitEnd
  attempt_begin,    // attempt; text: toolchain
  attempt_end,      // attempt; a: compiler's wait status, -1: never ran; b: 1: ninja had nothing to do; text: its output, cut
  file_op,          // text: "rename a b": one per change of the cache or of a lock, and per look at it; a: errno
  loaded,           // a: LoadCode; b: LoadFlags; attempt: the stamp found in it; text: loader's message
  warned,           // text: what the subject printed as a warning
  outcome,          // a: Outcome; text: the error. The last event of a worker that ends by itself
  // Written by a tool: stage shims, the fake compiler, the daemon.
  tool_begin,       // slot, pid, attempt; a: ToolRole; b: parent's pid; text: arguments
  tool_output,      // attempt; a: 1 begin to write the output, 2 half, 3 done; text: path
  tool_end,         // attempt; a: exit status as waitpid gives it
  served_request,   // daemon: key; attempt; text
  // Written by the driver of a traced trial. There `slot` is the index of the process in the order of its start, not a
  // worker's, and process_started has key: round; a: the parent's index, -1 for a worker itself; b: 1 if a tape
  // stands in for the program; text: "ROLE|ARGUMENTS".
  call,             // slot, pid; key: round; a: result, >= 0 or -errno; b: 1 if it changed cache or lock; text: what
  parked,           // slot; text: what it waits for
  time_passed,      // a: ns that were passed virtually; text: why
  elsewhere,        // text: a lock or a temporary path outside of the cache that belongs to it: absolute, or "$TMPDIR/name"
  counted,          // of a trial that only counts: a: how often the whole tree made that call; text: what, as of `call`
};

enum class ConditionKind : std::int64_t { none, absent, flock, reply, child, gate };
enum class WaitEnd : std::int64_t { satisfied, bound, error, interrupted };
enum class HangCause : std::int64_t { none, stale_owner, live_stuck_owner, inherited_descriptor, lock_never_returns, cycle };
enum class ToolRole : std::int64_t { none, build_tool, compiler, shell, stage, linker, daemon };
enum class Outcome : std::int64_t {
  none,
  built,
  served,
  fell_back,
  failed,
  killed_by_plan,
  killed_by_other,
  crashed,
  hung,
  stalled,
  could_not_start,
};

// Bits of `loaded`.b
enum LoadFlags : std::int64_t {
  load_intact = 1,        // equals the reference compile with the stamp masked
  load_right_key = 2,     // key and arch are those that were asked for
  load_right_stamp = 4,   // the attempt that the loader was promised (its own build, or one that published this entry)
  load_simulated = 8,     // the code comes from the decision table, not from a driver
};

struct Event {
  Nanoseconds stamp = 0;
  EventKind kind = EventKind::none;
  Point point = Point::none;
  Slot slot = driver_slot;
  std::uint16_t key = 0;
  std::uint32_t pid = 0;
  std::uint64_t attempt = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::string text;
};

// The longest text that the board keeps; longer ones lose their tail. The driver's own kinds are not cut.
inline constexpr std::size_t event_text_limit = 192;

std::string_view name_of(EventKind kind);
std::string_view name_of(ConditionKind kind);
std::string_view name_of(HangCause cause);
std::string_view name_of(ToolRole role);
std::string_view name_of(Outcome outcome);
std::optional<EventKind> parse_event_kind(std::string_view name);
std::optional<Outcome> parse_outcome(std::string_view name);

}  // namespace jitrace
