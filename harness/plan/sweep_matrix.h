#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace jitrace {

// What a sweep found, as a value: rows are kill classes, columns are what was killed and who went on first; in the last
// three a fresh process waits already for the builder when it is killed.

enum class SweepColumn {
  tree,
  builder_orphan_first,
  builder_orphan_held,
  tree_waiter,
  builder_orphan_first_waiter,
  builder_orphan_held_waiter,
};
inline constexpr SweepColumn every_sweep_column[] = {
    SweepColumn::tree,        SweepColumn::builder_orphan_first,        SweepColumn::builder_orphan_held,
    SweepColumn::tree_waiter, SweepColumn::builder_orphan_first_waiter, SweepColumn::builder_orphan_held_waiter};
// Whether the whole tree is killed; whether somebody waits already.
bool kills_tree(SweepColumn column);
bool has_waiter(SweepColumn column);
enum class SweepEnd {
  recovered,     // a fresh process was served, and what it got is intact
  hang,          // proved: a fresh process waits for ever
  failed,        // a fresh process ended with an error
  torn,          // a fresh process was content, and an artifact differs from the fault-free runs'
  not_applicable,  // builder alone: nothing outlives it there, so the column is the same as the whole tree
  inconclusive,  // the kill did not strike where it should, or a run stalled
  not_run,       // the budget was spent before
};
std::string_view name_of(SweepColumn column);
std::string_view name_of(SweepEnd end);

// Where the processes of a cell came from.
enum class SweepProcesses {
  fresh,      // an exec each
  forked,     // a zygote, that had imported what they need
  confirmed,  // a zygote first, and then an exec each, with the same end
};
std::string_view name_of(SweepProcesses processes);

struct SweepCell {
  SweepEnd end = SweepEnd::not_run;
  bool poisoned = false;               // round 3, a process later, fares no better
  Nanoseconds recovery = 0;            // of a recovered one: from the start of the fresh process to its end
  std::string detail;                  // the chain of the hang, the error, the torn file; one line
  std::vector<std::string> left;       // beyond what a fault-free run leaves: files, processes ("cc1plus went on")
  std::string replay;                  // file that brings it back; empty: none
  std::string confirmed;               // "" | "real" | "snapshot": how the state was made; a finding is always "real"
  SweepProcesses processes = SweepProcesses::fresh;
  bool replayed = false;               // a tape stood in for a compiler in the run that showed it
};

struct SweepRow {
  std::string step;                    // StepName::text()
  std::size_t points = 0;              // calls' points that it stands for
  std::map<SweepColumn, SweepCell> cells;
};

// What was done to single calls beside the kills between them: an error answered, a reply lost, a write cut short. The
// cell is a fresh process's after it; a call whose own process hangs over it is a hang.
struct SweepFault {
  std::string step;                    // StepName::text(), "after …": the call itself
  std::string fault;                   // "ENOSPC", "lost reply, EEXIST", "cut to half, then SIGKILL"
  std::size_t calls = 1;               // of the same kind that it stands for
  SweepCell cell;
};

// A promise of a scenario that the matrix does not keep.
struct SweepUnmet {
  std::optional<std::size_t> row;      // nothing: of a step that is not in the matrix, or of a fault
  std::optional<SweepColumn> column;
  std::string step;                    // StepName::text(); without a row what was looked for, "open lock *O_EXCL*"
  std::string expected, seen;          // "hang", "failed or torn"; "no such step"
  std::optional<std::size_t> fault = std::nullopt;  // index into SweepMatrix::faults
  friend bool operator==(const SweepUnmet&, const SweepUnmet&) = default;
};

struct SweepMatrix {
  std::string subject;                 // the command, as typed, or the scenario's subject
  std::string cache, file_system;
  std::size_t calls = 0, changes = 0, processes = 0;  // of the recording
  Nanoseconds recorded = 0;            // how long the recorded run took
  Nanoseconds took = 0;                // all of it
  double virtual_hours = 0;            // the least that a hang was proved to
  std::uint64_t unchanged_polls = 0;   // likewise
  std::optional<std::size_t> counted;  // calls that an independent count saw, if one was made
  std::vector<std::string> miscounted; // "write e.o: 5 and 6", recorded and counted: inconclusive; so is another number than
                                       // `calls`, unless there are
  std::vector<std::string> asked_again;  // of these, looks that a process takes until something comes: as many as it takes
  std::vector<SweepRow> rows;
  std::vector<SweepFault> faults;      // what was asked for besides kills
  std::vector<std::string> beside;     // paths outside of the cache that belong to it, as a plan has them
  std::vector<std::string> varying;    // files that fault-free runs do not leave alike: only that they are there, and not empty,
                                       // is judged
  int signal = 9;                      // what it was killed with
  std::vector<std::string> downgrades; // what could not be followed (io_uring, …), one clause each
  std::vector<std::string> mismatches; // cells that ended otherwise when they were made again, by the real kill, fresh
                                       // processes or real compilers, one clause each
  std::map<std::string, std::string> machine;
  std::optional<std::vector<SweepUnmet>> unmet;  // nothing: nobody promised anything
};

// `inconclusive`, before all else: a mismatch, by which no cell shows anything for certain. `findings`: any cell is a hang,
// failed or torn, whatever else could not be told. `inconclusive`: none is, and a cell was not decided, a call was not
// counted or followed, or there is no row. `pass`: none is, and all of it was seen.
// Where a scenario promises what is to be seen, a promise that is not kept takes the place of a finding.
enum class SweepVerdict { pass, findings, inconclusive };
SweepVerdict verdict_of(const SweepMatrix& matrix);
std::string_view name_of(SweepVerdict verdict);
// Whether the independent count, if there is one, saw the calls that were recorded.
bool counts_agree(const SweepMatrix& matrix);
// hang, failed or torn.
bool is_finding(SweepEnd end);

}  // namespace jitrace
