#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "verdict/cell.h"

namespace jitrace {

// What is shown while a run goes on. The caller says what happens; this decides what is worth a line.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void cell_begins(const std::string& id, int trials) = 0;
  // Trial k of the cell begins, or something in it happens: "killed worker 0 at compile".
  virtual void trial(int number, const std::string& what) = 0;
  virtual void cell_ends(const Cell& cell) = 0;
  // The live line goes, so that other output can follow.
  virtual void finish() = 0;
};

// One line per cell, redrawn in place, at most ten times a second, and left with the cell's headline at its end.
// Borrows the stream. `width`: columns of the terminal; the line never wraps.
std::unique_ptr<Progress> terminal_progress(std::FILE* stream, int width);
// A line when a cell begins and one when it ends, and one each half minute between: for logs.
std::unique_ptr<Progress> plain_progress(std::FILE* stream);

// "3 of 20, killed worker 0 at compile, about 12 s left"; the time left only once a trial is over.
std::string live_words(int number, int trials, const std::string& what, Nanoseconds elapsed);

}  // namespace jitrace
