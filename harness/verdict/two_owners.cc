#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "verdict/oracles.h"

namespace jitrace {
namespace {

// One lock is one path: where the inode differs under it, that is the fault (waiters split by a removed file). Two
// clients may name one file differently, so one inode under one base name is one lock, too.
bool same_lock(const HoldFact& left, const HoldFact& right) {
  if (left.path == right.path) return true;
  return left.inode != 0 && left.inode == right.inode && left.key == right.key &&
         base_of(left.path) == base_of(right.path);
}

}  // namespace

void find_two_owners(const TrialView& view, TrialVerdict& verdict) {
  std::set<std::string> told;  // one finding a lock
  for (std::size_t i = 0; i < view.holds.size(); ++i) {
    const HoldFact& first = view.holds[i];
    for (std::size_t j = i + 1; j < view.holds.size(); ++j) {
      const HoldFact& second = view.holds[j];  // begins later
      if (first.slot == second.slot || second.begin >= first.end || !same_lock(first, second)) continue;
      if (!told.insert(first.path).second) continue;
      Finding finding;
      finding.kind = FindingClass::two_owners;
      finding.cause =
          first.inode != second.inode ? "the lock file was replaced under its owner" : "the lock did not exclude";
      finding.round = view.round_at(second.begin);
      finding.slot = second.slot;
      finding.key = second.key;
      finding.evidence = {
          fmt::format("{} held {} from {} (inode {}), {} from {} (inode {})", view.who(first.slot), first.path,
                      view.when(first.begin), first.inode, view.who(second.slot), view.when(second.begin),
                      second.inode),
          fmt::format("{} gave it up at {} by {}", view.who(first.slot), view.when(first.end), first.ended_by)};
      verdict.findings.push_back(std::move(finding));
    }
  }
}

}  // namespace jitrace
