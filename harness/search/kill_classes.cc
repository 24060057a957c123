#include "search/kill_classes.h"

#include <map>
#include <utility>

#include "plan/call_words.h"

namespace jitrace {
namespace {

// Changes, as indices of calls, that are one run of writes, or a single one of any kind.
using Run = std::vector<std::size_t>;

std::vector<Run> runs_of_changes(const Recording& recording) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.round != 1 || !call.changed) continue;
    bool goes_on = false;
    if (!runs.empty() && CallWords(call.what).is({"write"})) {
      const RecordedCall& last = recording.calls[runs.back().back()];
      goes_on = last.process == call.process && last.what == call.what;
    }
    if (!goes_on) runs.emplace_back();
    runs.back().push_back(i);
  }
  return runs;
}

// The changes that open a class, each with how many of the next ones it stands for.
std::map<std::size_t, std::size_t> openers(const Recording& recording, Writes writes) {
  std::map<std::size_t, std::size_t> result;
  for (const Run& run : runs_of_changes(recording)) {
    const std::size_t last = run.size() - 1, middle = run.size() / 2;
    const auto kept = [&](std::size_t at) { return at == 0 || at == middle || at == last; };
    for (std::size_t at = 0, opener = 0; at < run.size(); ++at) {
      if (writes == Writes::all || kept(at)) {
        opener = run[at];
        result[opener] = 0;
      } else {
        ++result[opener];
      }
    }
  }
  return result;
}

}  // namespace

std::vector<KillClass> kill_classes(const Recording& recording, Writes writes) {
  const std::map<std::size_t, std::size_t> opens = openers(recording, writes);
  std::map<std::pair<std::string, std::string>, int> seen;  // role and call
  std::vector<KillClass> classes;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.round != 1) continue;
    const std::string& role = recording.processes.at(static_cast<std::size_t>(call.process)).role;
    const int occurrence = ++seen[{role, call.what}];
    if (classes.empty()) classes.push_back({{role, call.what, occurrence, Side::before}, i, 0, 0});
    ++classes.back().points;  // before the call
    if (const auto opener = opens.find(i); opener != opens.end()) {
      classes.push_back({{role, call.what, occurrence, Side::after}, i, 0, opener->second});
    }
    ++classes.back().points;  // after it
  }
  return classes;
}

}  // namespace jitrace
