#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace jitrace {

// What a scenario promises of a cell. Facts of its trials are held against it in verdict/; here it is a value only.
// Every clause that is absent promises nothing.
struct Expectation {
  std::vector<std::string> always;     // finding classes that every conclusive trial shows
  std::vector<std::string> sometimes;  // … that at least one trial shows
  std::vector<std::string> never;      // … that no trial shows
  std::optional<bool> recovered;       // true: in every conclusive trial all survivors were served; false: in none
  std::optional<bool> fell_back;       // true: every conclusive trial has a worker that ended `fell_back`; false: none has
  // Bounds per trial, inclusive. Builds count all keys together; per key the most that one key saw.
  std::optional<int> builds_min, builds_max;
  std::optional<int> builds_per_key_min, builds_per_key_max;
  std::optional<int> peak_builds_min, peak_builds_max;
  std::optional<int> warnings_min, warnings_max;
  // Of each trial's recovery time; a trial that never got there breaks the bound.
  std::optional<Nanoseconds> handoff_max, first_served_max, all_served_max;

  bool empty() const;
};

// The clauses in words, one each, in the order above: "always wedged", "recovered", "builds = 1", "handoff <= 50 ms".
std::vector<std::string> words(const Expectation& expectation);

}  // namespace jitrace
