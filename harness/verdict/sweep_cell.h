#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "event/history.h"
#include "plan/sweep_matrix.h"
#include "plan/trace_plan.h"

namespace jitrace {

// What fault-free runs left alike: files whose bytes never differ are artifacts, and what is judged by. Of the others that are
// always there, and never empty, only that is asked.
struct SweepReference {
  std::map<std::string, std::uint64_t> artifacts;  // path → digest
  std::set<std::string> varying;                   // always there and never empty, but not always the same
  std::set<std::string> names;                     // everything that a fault-free run leaves, as patterns

  // `others`: fault-free runs of another kind, which show what varies: as another worker, or with a fresh process on what the
  // first left. They make no file an artifact; what a fresh one takes away is none, either. One that was not served shows
  // nothing.
  static SweepReference of(const std::vector<const History*>& fault_free, const std::vector<const History*>& others = {});
};

// Judges one traced trial: a kill and what fresh processes made of it.
SweepCell judge_sweep(const History& history, const SweepReference& reference, SweepColumn column);

// Judges an error that one call answered: the process that got it may fail, but neither wait for ever nor leave what a
// fresh one cannot do with.
SweepCell judge_answer(const History& history, const SweepReference& reference);

// Judges what a plan of a sweep came to, whichever it is.
SweepCell judge_traced(const TracePlan& plan, const History& history, const SweepReference& reference);

// "exit 1: no such file" of a fault-free run that did not end well; empty if it did.
std::string failure_of(const History& fault_free);

// The least that the hangs of the histories were proved to, from their hang_proved events.
struct HangBounds {
  double virtual_hours = 0;
  std::uint64_t polls = 0;
};
void lower(HangBounds& bounds, const History& history);

}  // namespace jitrace
