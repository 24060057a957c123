#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "verdict/cell.h"

namespace jitrace {

// Where a run stands: a trial of one cell, and how many trials are done of all.
struct Step {
  std::string cell;        // id
  int number = 0;          // of the trial, from 1
  int trials = 0;          // of this cell
  std::string what;        // "killed worker 0 at compile"; empty: it begins
  int done = 0, all = 0;   // over all cells
  Nanoseconds elapsed = 0; // since the first trial began
};

// What is shown while a run goes on. The caller says what happens; this decides what is worth a line.
class Progress {
 public:
  virtual ~Progress() = default;
  // A trial begins, or something in it happens. Trials of different cells take turns.
  virtual void trial(const Step& step) = 0;
  virtual void cell_ends(const Cell& cell) = 0;
  // The live line goes, so that other output can follow.
  virtual void finish() = 0;
};

// A line that is redrawn in place, at most ten times a second, and a lasting one with each cell's headline at its end.
// Borrows the stream. `width`: columns of the terminal; the line never wraps.
std::unique_ptr<Progress> terminal_progress(std::FILE* stream, int width);
// A line when a cell ends, and one each half minute between: for logs.
std::unique_ptr<Progress> plain_progress(std::FILE* stream);

// "torch-baton/kill: 3 of 20, killed worker 0 at compile; 12 of 80 done, about 12 s left"; the time left only once a
// trial is over.
std::string live_words(const Step& step);

}  // namespace jitrace
