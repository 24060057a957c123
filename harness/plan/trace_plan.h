#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "plan/recording.h"
#include "scenario/fault.h"

namespace jitrace {

enum class TraceWork {
  record,   // one worker on an empty cache, to its end; then `fresh` more on what it left
  kill,     // the same, killed at `step`; then fresh ones
  recover,  // fresh ones on `restore`, which is what a kill left
  count,    // as `record`, by another tracer: only how often each call was made
  answer,   // as `record`, but the call of `step` answers with an error; then fresh ones
};

// Whether what a program makes outside of the cache is looked at: locks and temporary paths that others meet there.
enum class Noticing { no, yes };
// How a path in the trial's directory for temporary files begins.
inline constexpr std::string_view temporary_name = "$TMPDIR";

// Of a warned event: what ends by its limit after it might have been served in time.
inline constexpr std::string_view waited_outside = "time was passed while it waited for somebody outside of its tree, so limits may have ended early";

// How much of the write of a kill's step is done: the rest never was.
enum class Cut { none, half, all_but_one };
// Whether the call that answers with an error was made all the same, as when a reply is lost on its way.
enum class Reply { refused, lost };
std::string_view name_of(Cut cut);
std::string_view name_of(Reply reply);
// "ENOSPC" → its number; nothing: there is no such error.
std::optional<int> parse_errno(std::string_view name);
std::string name_of_errno(int number);

// One traced trial, whole: the text of it is the file that `jitrace replay` takes. Placeholders in the command: {cache}
// {worker} {key} {out} {libexec}.
struct TracePlan {
  TraceWork work = TraceWork::record;
  std::vector<std::string> command;
  std::string directory;                 // where it is started; empty: the caller's own
  std::string cache;                     // absolute; empty in a file that is kept: wherever it is replayed
  std::string around;                    // the directory that it lies in, if that is the trial's own, too
  std::vector<std::string> beside;       // further paths that belong to the cache: absolute, or "$TMPDIR/name"
  Noticing elsewhere = Noticing::no;     // record: finds more of them
  std::string restore;                   // recover: copied into the cache first
  std::string snapshots;                 // record: the cache after each of `snapshot_at` is copied to <snapshots>/<its number there>
  std::vector<StepName> snapshot_at;
  int fresh = 0;                         // record: so many workers more, one after the other
  std::optional<StepName> step;          // kill, answer
  int signal = 9;                        // kill: others than SIGKILL are sent once, and may be caught
  Cut cut = Cut::none;                   // kill, after a write
  int waiters = 0;                       // kill: 1: the fresh one of round 2 waits already when the builder is struck
  Reply reply = Reply::refused;          // answer
  int error = 0;                         // answer
  Victim who = Victim::tree;             // kill: tree or builder
  OrphanOrder order = OrphanOrder::none; // builder: who goes on first
  std::vector<std::string> steps;        // kill: the changes up to it, as recorded, "ROLE: what"; another program diverges
  std::string tapes;                     // directory of tapes of compilers: a record makes them, the others play them, too
  std::vector<std::string> unordered;    // roles that several processes had at a time: they, who started them and those below come in any order
  std::uint64_t polls = 1000;            // a hang: so many wake-ups without a change …
  Nanoseconds virtual_bound = seconds(7200);  // … and so much moved time
  Nanoseconds limit = seconds(600);      // real time of a round; then it has stalled
  std::string showed;                    // what it showed when it was kept
  std::string zygote;                    // socket of the process that forks each worker; empty: each is a fresh one.
                                         // Of one run only: no plan that is kept has it

  std::string text() const;
  static Result<TracePlan> parse(std::string_view text);
};

}  // namespace jitrace
