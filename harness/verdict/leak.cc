#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "verdict/oracles.h"

namespace jitrace {
namespace {

bool anybody_killed(const TrialView& view) {
  return view.first_kill() != nullptr || std::any_of(view.workers.begin(), view.workers.end(),
                                                     [](const auto& entry) { return !entry.second.survivor(); });
}

bool any_hang(const TrialVerdict& verdict) {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [](const Finding& finding) { return finding.kind == FindingClass::hang; });
}

// Whose orphan: the plan's, if it killed the builder or anybody whose child this may be.
bool orphaned_by_plan(const TrialView& view, std::uint32_t pid) {
  for (const ToolFact& tool : view.tools) {
    if (tool.pid != pid) continue;
    if (const AttemptFact* attempt = view.attempt(tool.attempt)) return view.hit_by_plan(attempt->slot);
  }
  return anybody_killed(view);
}

void leaked_processes(const TrialView& view, TrialVerdict& verdict) {
  for (const Event& event : view.history.events) {
    if (event.kind != EventKind::process_adopted || view.daemon(event.pid) || orphaned_by_plan(view, event.pid))
      continue;
    if (event.b == 2) continue;  // our own clean-up took its parent
    for (const Event& end : view.history.events) {
      if (end.kind != EventKind::process_ended || end.pid != event.pid || end.b != 2) continue;
      verdict.findings.push_back({FindingClass::leak, "a process", 0, view.round_at(event.stamp), driver_slot, 0,
                                  {fmt::format("process {} ({}) outlived its parent and was still there at the end",
                                               event.pid, event.text)}});
    }
  }
}

// A baton that is left after everybody has ended: the next one to come waits for ever. Where the trial hung on it, the
// hang says so already; flock files are meant to stay.
void leaked_batons(const TrialView& view, TrialVerdict& verdict) {
  if (any_hang(verdict)) return;
  std::set<std::string> names;
  for (const auto& [slot, worker] : view.workers) {
    if (worker.preset == nullptr) continue;
    for (const LockChoice& lock : worker.preset->locks) {
      if (lock.kind == LockKind::baton && !lock.name.empty()) names.insert(lock.name);
    }
  }
  for (const auto& [slot, worker] : view.workers) {
    if (worker.preset == nullptr) continue;
    for (const LockChoice& lock : worker.preset->locks) {
      if (lock.kind != LockKind::baton) names.erase(lock.name);  // the same file is a kernel lock for somebody
    }
  }
  for (const SnapshotEntry& entry : view.history.snapshot) {
    if (!names.contains(base_of(entry.path))) continue;
    verdict.findings.push_back({FindingClass::leak, "a lock file", 0, view.plan.rounds, driver_slot, 0,
                                {fmt::format("{} is still there, and its owner is not", entry.path)}});
  }
}

// nvcc's own, a `.tmp` beside its target, or whatever lies below a directory called tmp.
bool temporary(const std::string& path) {
  if (path.ends_with('/')) return false;
  const std::string name = base_of(path);
  return name.starts_with("tmpxft_") || name.starts_with("tmp.") || name.ends_with(".tmp") ||
         path.starts_with("tmp/") || path.find("/tmp/") != std::string::npos;
}

void leaked_files(const TrialView& view, TrialVerdict& verdict) {
  std::vector<std::string> left;
  for (const SnapshotEntry& entry : view.history.residue) {
    if (!entry.path.ends_with('/'))
      left.push_back(fmt::format("{} ({} bytes, temporary directory)", entry.path, entry.size));
  }
  for (const SnapshotEntry& entry : view.history.snapshot) {
    if (temporary(entry.path)) left.push_back(fmt::format("{} ({} bytes, cache)", entry.path, entry.size));
  }
  if (left.empty()) return;
  // Whoever is killed cannot clean up; that is a number worth a note, not a fault of the subject.
  if (anybody_killed(view) || any_hang(verdict)) {
    verdict.notes.push_back("those who were killed left temporary files behind");
    return;
  }
  if (left.size() > 8) left.resize(8);
  verdict.findings.push_back(
      {FindingClass::leak, "temporary files", 0, view.plan.rounds, driver_slot, 0, std::move(left)});
}

}  // namespace

void find_leaks(const TrialView& view, TrialVerdict& verdict) {
  leaked_processes(view, verdict);
  leaked_batons(view, verdict);
  leaked_files(view, verdict);
}

}  // namespace jitrace
