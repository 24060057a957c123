#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/history.h"

namespace jitrace {

// One process of a traced run. `role` is the same in every run: the letter of the worker and the programs from it down,
// "A/ninja/sh/c++/cc1plus".
struct RecordedProcess {
  std::string role;
  std::string arguments;
  int parent = -1;          // index, -1 for a worker itself
  std::uint32_t pid = 0;
};

// One call that looked at the cache or at a lock, or changed it.
struct RecordedCall {
  int process = 0;          // index into Recording::processes
  int round = 1;
  std::string what;         // "open lock O_WRONLY|O_CREAT|O_EXCL", "write e.o", "rename tmp.# k.so": path patterns
  std::int64_t result = 0;  // what it returned: >= 0, or -errno
  bool changed = false;     // cache or lock is another after it
  Nanoseconds at = 0;       // since the start of the trial
};

// What a traced trial did to its cache, in the order in which it happened.
struct Recording {
  // Last come those that a process was when it made calls before it became another program.
  std::vector<RecordedProcess> processes;
  std::vector<RecordedCall> calls;
};

// From the `call` and `process_started` events of a history.
Recording recording_of(const History& history);

// Those of `paths`, as a plan has them (TracePlan::beside), at which or below which calls were made.
std::vector<std::string> touched(const Recording& recording, const std::vector<std::string>& paths);

// How often each call was made, for a comparison of the two: what a history of TraceWork::count counted, and what a
// recording saw in round 1.
std::map<std::string, std::size_t> counts_of(const History& counted);
std::map<std::string, std::size_t> counts_of(const Recording& recording);

// Calls that only look (plan/call_words.h), or tried for a lock in vain, and that one role made again (a shell's loop starts a
// program for each): it asks until something comes, and how often is another number in each run. Of a recording, and of a
// history of TraceWork::count, which knows threads and no roles.
std::set<std::string> asked_again(const Recording& recording);
std::set<std::string> asked_again(const History& counted);

// What two counts say of single calls, in words: "stat lock: 5 and 6". `again`: calls that may be made less or more often, but
// not never.
struct CountDifferences {
  std::vector<std::string> otherwise;   // there is no reason for these
  std::vector<std::string> again;
};
CountDifferences differences(const std::map<std::string, std::size_t>& recorded, const std::map<std::string, std::size_t>& counted,
                             const std::set<std::string>& again);

// Names that differ from run to run (pids, uuids, times, random parts of temporary names) become '#', so that a step
// reads the same in every run: "e.o.tmp.81723" → "e.o.tmp.#", "tmpab3x9_q1" → "tmp#". A name that only looks so becomes
// '#' in every run, too, which costs clearness but no replay. Digests of contents, versions and GPU names stay.
std::string path_pattern(const std::string& path);

// Whether a file is named by the habit of a program that makes up such names (mkstemp's users, compilers, tempfile): another
// one each time. Sure where it says yes.
bool is_temporary_name(std::string_view name);

enum class Side { before, after };

// Names one moment of a run, in every run of the same program: the n-th time that a process of that role makes that
// call. Neither `role` nor `what` is empty.
struct StepName {
  std::string role;
  std::string what;
  int occurrence = 1;
  Side side = Side::after;

  std::string text() const;  // "after A/ninja/sh/c++/as: write e.o (2)"; one line, and parse() gives the same step back
  static Result<StepName> parse(std::string_view text);
  friend bool operator==(const StepName&, const StepName&) = default;
};

}  // namespace jitrace
