#include "verdict/sweep_cell.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <regex>

#include "plan/recording.h"

namespace jitrace {
namespace {

struct Round {
  Nanoseconds began = 0, ended = 0;
  Outcome outcome = Outcome::none;
  std::string text;
};

std::map<int, Round> rounds_of(const History& history) {
  std::map<int, Round> rounds;
  for (const Event& event : history.events) {
    if (event.kind == EventKind::round_begin) rounds[event.key].began = event.stamp;
    if (event.kind != EventKind::outcome) continue;
    Round& round = rounds[event.key];
    round.outcome = static_cast<Outcome>(event.a);
    round.ended = event.stamp;
    round.text = event.text;
  }
  return rounds;
}

// Numbers of processes and of wake-ups differ from run to run: who is meant is said by the role, and the least bound of
// all proofs stands below the matrix.
std::string without_numbers(const std::string& text) {
  static const std::regex numbers(R"( \(pid \d+\)|; proved to [^;]*)");
  return std::regex_replace(text, numbers, "");
}

SweepEnd end_of(Outcome outcome) {
  if (outcome == Outcome::served) return SweepEnd::recovered;
  if (outcome == Outcome::hung) return SweepEnd::hang;
  if (outcome == Outcome::failed || outcome == Outcome::crashed) return SweepEnd::failed;
  return SweepEnd::inconclusive;
}

// The first artifact that is not as it should be.
std::optional<std::string> torn_artifact(const History& history, const SweepReference& reference) {
  const auto find = [&history](const std::string& path) {
    return std::find_if(history.snapshot.begin(), history.snapshot.end(),
                        [&path](const SnapshotEntry& entry) { return entry.path == path; });
  };
  for (const auto& [path, digest] : reference.artifacts) {
    const auto found = find(path);
    if (found == history.snapshot.end()) return path + " is not there";
    if (found->digest != digest) return path + " differs from a fault-free run's (" + std::to_string(found->size) + " bytes)";
  }
  for (const std::string& path : reference.varying) {
    const auto found = find(path);
    if (found == history.snapshot.end()) return path + " is not there";
    if (found->size == 0) return path + " is empty";
  }
  return std::nullopt;
}

// A limit that ended while somebody waited for outside of the tree says nothing.
std::string waited(const History& history, int round) {
  for (const Event& event : history.events) {
    if (event.kind == EventKind::warned && event.key == round && event.text.ends_with(waited_outside)) return event.text;
  }
  return {};
}

std::string program_of(const std::string& role) { return role.substr(role.rfind('/') + 1); }

}  // namespace

SweepReference SweepReference::of(const std::vector<const History*>& fault_free, const std::vector<const History*>& others) {
  struct Seen {
    std::size_t runs = 0;
    std::set<std::uint64_t> digests;
    bool empty = false;
  };
  std::map<std::string, Seen> files;
  SweepReference reference;
  for (const History* run : fault_free) {
    for (const SnapshotEntry& entry : run->snapshot) {
      reference.names.insert(path_pattern(entry.path));
      if (entry.path.ends_with('/')) continue;
      Seen& seen = files[entry.path];
      ++seen.runs;
      seen.digests.insert(entry.digest);
      seen.empty = seen.empty || entry.size == 0;
    }
  }
  std::erase_if(files, [&](const auto& file) { return file.second.runs < fault_free.size(); });
  for (const History* run : others) {
    const auto rounds = rounds_of(*run);
    if (rounds.empty() || rounds.rbegin()->second.outcome != Outcome::served) continue;
    const bool used_again = rounds.rbegin()->first > 1;
    std::map<std::string, std::uint64_t> digests;
    for (const SnapshotEntry& entry : run->snapshot) digests[entry.path] = entry.digest;
    for (auto& [path, seen] : files) {
      if (const auto found = digests.find(path); found != digests.end()) seen.digests.insert(found->second);
    }
    if (used_again) std::erase_if(files, [&digests](const auto& file) { return !digests.contains(file.first); });
  }
  for (const auto& [path, seen] : files) {
    if (seen.digests.size() == 1) reference.artifacts[path] = *seen.digests.begin();
    else if (!seen.empty) reference.varying.insert(path);
  }
  return reference;
}

SweepCell judge_sweep(const History& history, const SweepReference& reference, SweepColumn column) {
  SweepCell cell;
  cell.end = SweepEnd::inconclusive;
  std::set<std::string> orphans;
  for (const Event& event : history.events) {
    if (event.kind == EventKind::fault_missed) {
      cell.detail = event.text;
      return cell;
    }
    if (event.kind == EventKind::process_adopted && event.b == 0) orphans.insert(program_of(event.text) + " went on");
  }
  const auto rounds = rounds_of(history);
  const auto second = rounds.find(2);
  if (second == rounds.end()) {
    cell.detail = "no fresh process was started";
    return cell;
  }
  const auto third = rounds.find(3);
  const Round* bad = second->second.outcome == Outcome::served ? nullptr : &second->second;
  // One that waited already may be through before the kill: then it is the third that meets what the kill left.
  // Orphan-held: the orphan has finished by the third round, which has to fare well, too.
  if (bad == nullptr && third != rounds.end() && third->second.outcome != Outcome::served) bad = &third->second;
  cell.end = bad == nullptr ? SweepEnd::recovered : end_of(bad->outcome);
  if (bad != nullptr) cell.detail = without_numbers(bad->text);
  if (const std::string doubt = bad == nullptr ? "" : waited(history, bad == &second->second ? 2 : 3);
      cell.end == SweepEnd::failed && !doubt.empty()) {
    cell.end = SweepEnd::inconclusive;
    cell.detail = doubt + "; " + cell.detail;
    return cell;
  }
  if (bad == nullptr) {
    cell.recovery = second->second.ended - second->second.began;
    if (const auto torn = torn_artifact(history, reference)) {
      cell.end = SweepEnd::torn;
      cell.detail = "the fresh process was content, and " + *torn;
    }
  }
  // Where a proved hang left the cache as it was, no third round is needed to know how it would fare.
  const bool worse = third == rounds.end() ? cell.end == SweepEnd::hang : third->second.outcome != Outcome::served;
  cell.poisoned = is_finding(cell.end) && worse;
  for (const SnapshotEntry& entry : history.snapshot) {
    if (!reference.names.contains(path_pattern(entry.path))) cell.left.push_back(path_pattern(entry.path));
  }
  if (!kills_tree(column)) cell.left.insert(cell.left.end(), orphans.begin(), orphans.end());
  std::sort(cell.left.begin(), cell.left.end());
  cell.left.erase(std::unique(cell.left.begin(), cell.left.end()), cell.left.end());
  return cell;
}

SweepCell judge_answer(const History& history, const SweepReference& reference) {
  SweepCell cell = judge_sweep(history, reference, SweepColumn::tree);
  const auto rounds = rounds_of(history);
  const auto first = rounds.find(1);
  if (first == rounds.end() || cell.end == SweepEnd::inconclusive) return cell;
  const Round& got = first->second;
  const std::string words = without_numbers(got.text);
  if (is_finding(cell.end)) {
    cell.detail = (got.outcome == Outcome::served ? "the one that got it was content; then " : "the one that got it: " + words + "; then ") + cell.detail;
  } else if (got.outcome == Outcome::hung) {
    cell.end = SweepEnd::hang;
    cell.detail = words;
  } else if (got.outcome == Outcome::stalled) {
    cell.end = SweepEnd::inconclusive;
    cell.detail = words;
  } else {
    cell.detail = got.outcome == Outcome::served ? "" : "the one that got it: " + words;
  }
  return cell;
}

SweepCell judge_traced(const TracePlan& plan, const History& history, const SweepReference& reference) {
  if (plan.work == TraceWork::answer) return judge_answer(history, reference);
  const bool tree = plan.work == TraceWork::recover || plan.who == Victim::tree;
  return judge_sweep(history, reference, tree ? SweepColumn::tree : SweepColumn::builder_orphan_first);
}

std::string failure_of(const History& fault_free) {
  const auto rounds = rounds_of(fault_free);
  const auto first = rounds.find(1);
  if (first == rounds.end()) return "it was never started";
  return first->second.outcome == Outcome::served ? std::string() : first->second.text.empty() ? std::string(name_of(first->second.outcome)) : first->second.text;
}

void lower(HangBounds& bounds, const History& history) {
  for (const Event& event : history.events) {
    if (event.kind != EventKind::hang_proved) continue;
    const std::size_t at = event.text.find("proved to ");
    double hours = 0;
    unsigned long long polls = 0;
    if (at == std::string::npos || std::sscanf(event.text.c_str() + at, "proved to %lf virtual hours, %llu", &hours, &polls) != 2) continue;
    if (bounds.polls == 0 || hours < bounds.virtual_hours) bounds.virtual_hours = hours;
    if (bounds.polls == 0 || polls < bounds.polls) bounds.polls = polls;
  }
}

}  // namespace jitrace
