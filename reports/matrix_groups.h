#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/sweep_matrix.h"

namespace jitrace {

// How the cells of a column ended in a group of rows.
struct GroupCell {
  SweepEnd end = SweepEnd::not_run;
  bool poisoned = false;
  Nanoseconds shortest = 0, longest = 0;  // recoveries
};

// Consecutive rows that ended alike in every column.
struct MatrixGroup {
  std::size_t first = 0, last = 0;  // rows
  std::size_t points = 0;
  std::map<SweepColumn, GroupCell> cells;
  std::string from, to;             // "after create lock (O_EXCL)", "before unlink lock"; `to` is "the end" of the last

  std::size_t rows() const { return last - first + 1; }
};
std::vector<MatrixGroup> groups_of(const SweepMatrix& matrix);

// What is told of findings: the first of those that have the same end and the same detail within a group.
struct ToldFinding {
  const SweepRow* row = nullptr;
  const SweepCell* cell = nullptr;
  std::vector<SweepColumn> columns;
  std::size_t cells = 0;
  std::vector<std::pair<std::string, std::size_t>> left;  // beside any of these cells, and how many of them
};
std::vector<ToldFinding> findings_of(const SweepMatrix& matrix, const MatrixGroup& group);

// Faults of one kind, over all calls that they were tried at.
struct FaultGroup {
  std::string fault;
  std::size_t first = 0;                    // index into SweepMatrix::faults
  std::size_t tried = 0, calls = 0;         // faults; calls that they stand for
  std::map<SweepEnd, std::size_t> ends;
  // The first of those that have the same end and the same detail, and how many they are.
  std::vector<std::pair<const SweepFault*, std::size_t>> findings;
};
std::vector<FaultGroup> fault_groups_of(const SweepMatrix& matrix);

// Cells of the whole matrix.
struct MatrixCounts {
  std::map<SweepEnd, std::size_t> ends;
  std::size_t cells = 0, findings = 0, poisoned = 0;
  std::size_t real = 0, snapshots = 0;      // of those that ran: how the state was made
  std::size_t forked = 0, confirmed = 0;    // by a zygote; of these again in fresh processes
  std::size_t replayed = 0;                 // with replayed compilers
  Nanoseconds median = 0, longest = 0;      // recoveries
  std::map<std::string, std::size_t> left;  // beside recovered cells: what, and how often
};
MatrixCounts count(const SweepMatrix& matrix);

// The words that all renderers share.

// Columns that any row has, in their order.
std::vector<SweepColumn> columns_of(const SweepMatrix& matrix);
// "whole tree", "builder alone, orphan held".
std::string words_of(SweepColumn column);
// "whole tree, builder alone in both orders".
std::string words_of(const std::vector<SweepColumn>& columns);
// "lock, cc1plus went on (21 cells)": counted where it was not beside every cell.
std::string left_words(const ToldFinding& finding);
// "HANG", "recovered", "same" (as the whole tree).
std::string words_of(SweepEnd end);
// "create lock (O_EXCL)", "as: write e.o (2)": role by its last program, flags that matter. What is no step stays.
std::string step_words(const std::string& step);
// "15 260 calls on the cache, 27 changes, 30 520 points in 28 classes; 11 processes".
std::string size_words(const SweepMatrix& matrix);
// What holds back a clean verdict though no cell does: calls that were not counted or not followed.
std::vector<std::string> shortfalls(const SweepMatrix& matrix);
// What the result rests on: "hangs proved to 2.3 virtual hours and 1 000 unchanged polls", "recovery p50 …".
std::vector<std::string> bounds(const SweepMatrix& matrix);
// "after A: unlink lock [whole tree]: expected recovered, seen hang"
std::string unmet_words(const SweepUnmet& unmet);
// "findings: 25 of 84 cells hang, 2 failed".
std::string verdict_words(const SweepMatrix& matrix);
// The command that brings it back, for a shell; empty where there is none.
std::string replay_command(const SweepCell& cell);
// 15 260
std::string grouped_digits(std::size_t number);
// "1 call", "2 calls".
std::string counted(std::size_t number, std::string_view one, std::string_view many);

}  // namespace jitrace
