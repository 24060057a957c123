#include "scenario/expectation.h"

#include <fmt/format.h>

namespace jitrace {
namespace {

void bounds(std::vector<std::string>& out, std::string_view what, const std::optional<int>& low,
            const std::optional<int>& high) {
  if (low && high && *low == *high) {
    out.push_back(fmt::format("{} = {}", what, *low));
    return;
  }
  if (low) out.push_back(fmt::format("{} >= {}", what, *low));
  if (high) out.push_back(fmt::format("{} <= {}", what, *high));
}

void at_most(std::vector<std::string>& out, std::string_view what, const std::optional<Nanoseconds>& limit) {
  if (limit) out.push_back(fmt::format("{} <= {:g} ms", what, to_ms(*limit)));
}

}  // namespace

bool Expectation::empty() const { return words(*this).empty(); }

std::vector<std::string> words(const Expectation& e) {
  std::vector<std::string> out;
  for (const auto& name : e.always) out.push_back("always " + name);
  for (const auto& name : e.sometimes) out.push_back("sometimes " + name);
  for (const auto& name : e.never) out.push_back("never " + name);
  if (e.recovered) out.emplace_back(*e.recovered ? "recovered" : "not recovered");
  if (e.fell_back) out.emplace_back(*e.fell_back ? "fell back" : "did not fall back");
  bounds(out, "builds", e.builds_min, e.builds_max);
  bounds(out, "builds per key", e.builds_per_key_min, e.builds_per_key_max);
  bounds(out, "builds at once", e.peak_builds_min, e.peak_builds_max);
  bounds(out, "warnings", e.warnings_min, e.warnings_max);
  at_most(out, "handoff", e.handoff_max);
  at_most(out, "first served", e.first_served_max);
  at_most(out, "all served", e.all_served_max);
  return out;
}

}  // namespace jitrace
