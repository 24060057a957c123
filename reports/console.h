#pragma once

#include <string>

#include "verdict/cell.h"

namespace jitrace {

enum class Colour { never, always };

struct ConsoleOptions {
  Colour colour = Colour::never;
  int width = 80;
};

// The table of a run for a terminal: grouped by fault, a row a strategy, then findings with one line of evidence and
// the command that replays them, what was not met, and what was skipped and why. No line is longer than `width` columns
// but one that holds a single path or command word that is.
std::string render_console(const Report& report, const ConsoleOptions& options = {});

}  // namespace jitrace
