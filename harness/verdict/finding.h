#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace jitrace {

// What can go wrong (design 7). In the order in which reports list them.
enum class FindingClass {
  hang,
  wedged,
  two_owners,
  orphan_write,
  missing,
  source_missing,
  torn,
  poisoned,
  foreign,
  loud,
  wrong_error,
  herd,
  serialised,
  starved,
  leak,
};
std::string_view name_of(FindingClass value);
std::optional<FindingClass> parse_finding_class(std::string_view name);
std::vector<std::string> finding_class_names();
std::string_view describe(FindingClass value);  // one sentence for a newcomer

// One thing that went wrong in one trial, with what shows it.
struct Finding {
  FindingClass kind = FindingClass::hang;
  std::string cause;                  // "stale owner"; "301 (elf, simulated)"; empty where the class says all
  int trial = 0;                      // from 1
  int round = 1;
  Slot slot = driver_slot;            // whom it hit
  std::uint16_t key = 0;
  std::vector<std::string> evidence;  // lines, most telling first
};

// pass < inconclusive < fail.
enum class Grade { pass, inconclusive, fail };
std::string_view name_of(Grade grade);

}  // namespace jitrace
