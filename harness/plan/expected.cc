#include "plan/expected.h"

#include <algorithm>

namespace jitrace {
namespace {

bool in(const std::vector<std::string>& list, const std::string& word) {
  return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

bool matches(const ExpectEntry& entry, const CellPlan& cell) {
  return in(entry.subjects, cell.subject.name) && in(entry.faults, cell.fault.name) &&
         in(entry.toolchains, toolchain_kind(cell.toolchain)) && in(entry.loaders, cell.loader) &&
         in(entry.load_apis, cell.load_api);
}

// Moves the classes of `from` into `into`, out of wherever an earlier entry had put them.
void lay(Expectation& over, std::vector<std::string> Expectation::*list, const std::vector<std::string>& from) {
  for (const std::string& name : from) {
    for (const auto other : {&Expectation::always, &Expectation::sometimes, &Expectation::never}) {
      std::erase(over.*other, name);
    }
    (over.*list).push_back(name);
  }
}

template <class T>
void lay(std::optional<T>& over, const std::optional<T>& from) {
  if (from) over = from;
}

// Bounds come in pairs: a new one replaces both, or "at most 8" after "exactly 1" would keep the 1.
void lay(std::optional<int>& low, std::optional<int>& high, const std::optional<int>& from_low,
         const std::optional<int>& from_high) {
  if (!from_low && !from_high) return;
  low = from_low;
  high = from_high;
}

}  // namespace

Expectation expectation_of(const Scenario& scenario, const CellPlan& cell) {
  Expectation out;
  for (const ExpectEntry& entry : scenario.expects) {
    if (!matches(entry, cell)) continue;
    const Expectation& e = entry.expectation;
    lay(out, &Expectation::always, e.always);
    lay(out, &Expectation::sometimes, e.sometimes);
    lay(out, &Expectation::never, e.never);
    lay(out.recovered, e.recovered);
    lay(out.fell_back, e.fell_back);
    lay(out.builds_min, out.builds_max, e.builds_min, e.builds_max);
    lay(out.builds_per_key_min, out.builds_per_key_max, e.builds_per_key_min, e.builds_per_key_max);
    lay(out.peak_builds_min, out.peak_builds_max, e.peak_builds_min, e.peak_builds_max);
    lay(out.warnings_min, out.warnings_max, e.warnings_min, e.warnings_max);
    lay(out.handoff_max, e.handoff_max);
    lay(out.first_served_max, e.first_served_max);
    lay(out.all_served_max, e.all_served_max);
  }
  return out;
}

}  // namespace jitrace
