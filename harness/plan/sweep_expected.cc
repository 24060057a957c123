#include "plan/sweep_expected.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/text.h"
#include "plan/recording.h"

namespace jitrace {
namespace {

bool matches(const std::string& pattern, const std::string& text) { return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0; }

// Whether the entry is for this fault.
bool is_for(const SweepEntry& entry, const SweepFault& fault) {
  const bool meant = std::any_of(entry.faults.begin(), entry.faults.end(),
                                 [&](const std::string& pattern) { return matches(pattern, fault.fault); });
  const auto step = StepName::parse(fault.step);
  if (!meant || !step || !matches(entry.role, step->role)) return false;
  return entry.after.empty() || matches(entry.after, step->what) ||
         matches(entry.after, step->what + " (" + std::to_string(step->occurrence) + ")");
}

// Whether the row stands after such a call. The first row of a matrix stands before its call, which is not made yet.
bool is_after(const SweepRow& row, const std::string& call, const std::string& role) {
  const auto step = StepName::parse(row.step);
  if (!step || step->side != Side::after || !matches(role, step->role)) return false;
  return matches(call, step->what) || matches(call, step->what + " (" + std::to_string(step->occurrence) + ")");
}

struct Range {
  std::size_t first = 0, end = 0;
};

// Adds to `unmet` what there is to say of a range that is not there.
Range range_of(const SweepMatrix& matrix, const SweepEntry& entry, std::vector<SweepUnmet>& unmet) {
  const auto find = [&](std::size_t from, const std::string& call, const std::string& role) {
    while (from < matrix.rows.size() && !is_after(matrix.rows[from], call, role)) ++from;
    return from;
  };
  const auto missing = [&](const std::string& call) {
    unmet.push_back({std::nullopt, std::nullopt, call, join_text(entry.ends, " or "), "no such step"});
    return Range{};
  };
  Range range{0, matrix.rows.size()};
  if (!entry.after.empty()) {
    range.first = find(0, entry.after, entry.role);
    if (range.first == matrix.rows.size()) return missing(entry.after);
  }
  if (!entry.until.empty()) {
    range.end = find(range.first + 1, entry.until, "*");
    if (range.end == matrix.rows.size()) return missing(entry.until);
  }
  return range;
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool decided(SweepEnd end) { return end == SweepEnd::recovered || is_finding(end); }

}  // namespace

std::vector<SweepEntry> sweeps_of(const Scenario& scenario, const std::string& subject) {
  std::vector<SweepEntry> out;
  for (const SweepEntry& entry : scenario.sweeps) {
    if (entry.subjects.empty() || contains(entry.subjects, subject)) out.push_back(entry);
  }
  return out;
}

std::vector<SweepUnmet> unmet_of(const SweepMatrix& matrix, const std::vector<SweepEntry>& entries) {
  std::vector<SweepUnmet> unmet;
  std::vector<Range> ranges;
  for (const SweepEntry& entry : entries) ranges.push_back(entry.faults.empty() ? range_of(matrix, entry, unmet) : Range{});
  const std::vector<std::string> recovered{std::string(name_of(SweepEnd::recovered))};
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (const auto& [column, cell] : matrix.rows[row].cells) {
      if (!decided(cell.end)) continue;
      const std::vector<std::string>* ends = &recovered;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool in_column = entries[i].columns.empty() || contains(entries[i].columns, name_of(column));
        if (in_column && row >= ranges[i].first && row < ranges[i].end) ends = &entries[i].ends;
      }
      if (contains(*ends, name_of(cell.end))) continue;
      unmet.push_back({row, column, matrix.rows[row].step, join_text(*ends, " or "), std::string(name_of(cell.end))});
    }
  }
  for (std::size_t i = 0; i < matrix.faults.size(); ++i) {
    const SweepFault& fault = matrix.faults[i];
    if (!decided(fault.cell.end)) continue;
    const std::vector<std::string>* ends = &recovered;
    for (const SweepEntry& entry : entries) {
      if (is_for(entry, fault)) ends = &entry.ends;
    }
    if (contains(*ends, name_of(fault.cell.end))) continue;
    unmet.push_back({std::nullopt, std::nullopt, fault.fault + " at " + fault.step, join_text(*ends, " or "),
                     std::string(name_of(fault.cell.end)), i});
  }
  return unmet;
}

}  // namespace jitrace
