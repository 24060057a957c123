#pragma once

#include <string>
#include <vector>

#include "verdict/cell.h"

namespace jitrace {

// The words that all renderers share.

// "1.4 ms", "18.8 s": three digits, the unit that fits.
std::string duration(double ms);
// "0.01 ms" of nothing measured is "-".
std::string duration_or_dash(const Spread& spread, double Spread::*value);
// "wedged 20 of 20", "recovered 20 of 20", "missing 3 of 20, torn 1 of 20", "nothing found in 20"; a rate where the
// cell has one. The most telling class only where `all` is not wanted.
enum class Detail { headline, all };
std::string headline(const Cell& cell, Detail detail = Detail::all);
// What the cell is about: "no fault", "SIGKILL of builder 1 at compile", with the cause's own name where it differs.
std::string fault_title(const Cell& cell);
// "handoff p50 1.4 ms, first served 1.4 s, all served 1.5 s; 3 never"; empty where nobody was killed.
std::string recovery_words(const Cell& cell);
// "toolchain nvcc 13.0.88, sm_90a, elf, 8 workers, gated"; several clients and an injected rename gap with them.
std::string setting(const Cell& cell);
// "cache /mnt/share on nfs4 (rw,vers=4.2)": where everything lay; empty without a cell.
std::string cache_words(const Report& report);
// "met", "NOT MET", "inconclusive", "skipped".
std::string standing(const Cell& cell);
// Cells in the order in which they came, a list a fault title.
std::vector<std::pair<std::string, std::vector<const Cell*>>> by_fault(const Report& report);

struct Counts {
  int cells = 0, passed = 0, inconclusive = 0, failed = 0, skipped = 0;
};
Counts count(const Report& report);

}  // namespace jitrace
