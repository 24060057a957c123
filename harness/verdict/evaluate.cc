#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "verdict/statistics.h"
#include "verdict/summarise.h"

namespace jitrace {
namespace {

bool shows(const TrialVerdict& trial, const std::string& name) {
  return std::any_of(trial.findings.begin(), trial.findings.end(),
                     [&](const Finding& finding) { return name_of(finding.kind) == name; });
}

// One cell while its clauses are gone through: who counts, and what did not hold.
class Bench {
 public:
  explicit Bench(Cell& cell) : cell_(cell) {
    for (const TrialVerdict& trial : cell.judged) {
      if (trial.inconclusive.empty()) conclusive_.push_back(&trial);
    }
  }

  int conclusive() const { return static_cast<int>(conclusive_.size()); }
  int count(const std::function<bool(const TrialVerdict&)>& holds) const {
    return static_cast<int>(std::count_if(conclusive_.begin(), conclusive_.end(),
                                          [&](const TrialVerdict* trial) { return holds(*trial); }));
  }
  void unmet(std::string line) { cell_.unmet.push_back(std::move(line)); }

  void every_trial(const std::string& clause, const std::function<bool(const TrialVerdict&)>& holds) {
    const int seen = count(holds);
    if (seen < conclusive()) unmet(fmt::format("{}: held in {} of {} trials", clause, seen, conclusive()));
  }

  void bounds(const std::string& what, const std::optional<int>& low, const std::optional<int>& high,
              const std::function<int(const TrialVerdict&)>& value) {
    if ((!low && !high) || conclusive_.empty()) return;
    int least = value(*conclusive_.front()), most = least, outside = 0;
    for (const TrialVerdict* trial : conclusive_) {
      const int seen = value(*trial);
      least = std::min(least, seen);
      most = std::max(most, seen);
      if ((low && seen < *low) || (high && seen > *high)) ++outside;
    }
    if (outside == 0) return;
    std::string promised = low && high
                               ? (*low == *high ? fmt::format("= {}", *low) : fmt::format("{} to {}", *low, *high))
                           : low ? fmt::format(">= {}", *low)
                                 : fmt::format("<= {}", *high);
    std::string seen = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    unmet(fmt::format("{} {}: {} of {} trials outside, seen {}", what, promised, outside, conclusive(), seen));
  }

  void within(const std::string& what, const std::optional<Nanoseconds>& most,
              std::optional<Nanoseconds> Recovery::*member) {
    if (!most || conclusive_.empty()) return;
    int late = 0, never = 0, measured = 0;
    Nanoseconds worst = 0;
    for (const TrialVerdict* trial : conclusive_) {
      if (!trial->recovery.applies) continue;
      if (member == &Recovery::handoff && !trial->recovery.handoff_shows) continue;
      ++measured;
      const auto& value = trial->recovery.*member;
      if (!value) ++never;
      if (value && *value > *most) ++late;
      if (value) worst = std::max(worst, *value);
    }
    if (measured == 0)
      return unmet(fmt::format("{} <= {:g} ms: nothing was measured: nobody was killed, or it is a command's, which tells nothing of it",
                               what, to_ms(*most)));
    if (late == 0 && never == 0) return;
    unmet(fmt::format("{} <= {:g} ms: {} of {} trials later, {} never; the worst took {:.1f} ms", what, to_ms(*most),
                      late, measured, never, to_ms(worst)));
  }

 private:
  Cell& cell_;
  std::vector<const TrialVerdict*> conclusive_;
};

int per_key(const TrialVerdict& trial) {
  int most = 0;
  for (const auto& [key, count] : trial.builds_per_key) most = std::max(most, count);
  return most;
}

void check_classes(Bench& bench, const Cell& cell, const Expectation& expectation) {
  const int n = bench.conclusive();
  for (const std::string& name : expectation.always) {
    const int seen = bench.count([&](const TrialVerdict& trial) { return shows(trial, name); });
    if (n == 0 || seen == n) continue;
    const char* blind = seen == 0 ? ": the subject was repaired, or the harness has gone blind" : "";
    bench.unmet(fmt::format("always {}: seen in {} of {} trials{}", name, seen, n, blind));
  }
  for (const std::string& name : expectation.sometimes) {
    if (n == 0 || cell.findings.contains(name)) continue;
    bench.unmet(
        fmt::format("sometimes {}: none in {}: the subject was repaired, or the harness has gone blind", name, n));
  }
  for (const std::string& name : expectation.never) {
    const auto found = cell.findings.find(name);
    if (found != cell.findings.end()) {
      bench.unmet(fmt::format("never {}: seen in {} of {} trials", name, found->second, cell.trials));
    }
  }
}

void note_unpromised(Cell& cell, const Expectation& expectation) {
  for (const auto& [name, count] : cell.findings) {
    const auto in = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    if (in(expectation.always) || in(expectation.sometimes) || in(expectation.never)) continue;
    cell.notes.push_back(fmt::format("also seen, with no promise about it: {} {} of {}", name, count, cell.trials));
  }
}

}  // namespace

void evaluate(Cell& cell, const Expectation& expectation) {
  cell.expected = words(expectation);
  cell.unmet.clear();
  cell.met = false;
  cell.verdict = Grade::inconclusive;
  if (cell.skipped) return;
  Bench bench(cell);
  if (expectation.empty()) {
    for (const auto& [name, count] : cell.findings) {
      bench.unmet(fmt::format("nothing found: {} seen in {} of {} trials", name, count, cell.trials));
    }
  } else {
    check_classes(bench, cell, expectation);
    note_unpromised(cell, expectation);
  }
  if (expectation.recovered) {
    const bool due = *expectation.recovered;
    bench.every_trial(due ? "recovered" : "never recovered",
                      [due](const TrialVerdict& trial) { return trial.recovered == due; });
  }
  if (expectation.fell_back) {
    const bool due = *expectation.fell_back;
    bench.every_trial(due ? "fell back" : "never fell back", [due](const TrialVerdict& trial) {
      return trial.outcomes.contains(std::string(name_of(Outcome::fell_back))) == due;
    });
  }
  bench.bounds("builds", expectation.builds_min, expectation.builds_max,
               [](const TrialVerdict& t) { return t.builds; });
  bench.bounds("builds per key", expectation.builds_per_key_min, expectation.builds_per_key_max, per_key);
  bench.bounds("peak builds", expectation.peak_builds_min, expectation.peak_builds_max,
               [](const TrialVerdict& t) { return t.peak_builds; });
  bench.bounds("warnings", expectation.warnings_min, expectation.warnings_max,
               [](const TrialVerdict& t) { return t.warnings; });
  bench.within("handoff", expectation.handoff_max, &Recovery::handoff);
  bench.within("first served", expectation.first_served_max, &Recovery::first_served);
  bench.within("all served", expectation.all_served_max, &Recovery::all_served);

  // In free mode a promise about a class is shown with its interval, also where nothing was seen.
  if (!cell.rates.empty()) {
    for (const auto* list : {&expectation.always, &expectation.sometimes, &expectation.never}) {
      for (const std::string& name : *list) cell.rates.try_emplace(name, rate_of(0, bench.conclusive()));
    }
  }
  const bool enough = bench.conclusive() > 0 && bench.conclusive() >= least_conclusive * cell.trials;
  cell.met = cell.unmet.empty() && enough;
  cell.verdict = !cell.unmet.empty() ? Grade::fail : enough ? Grade::pass : Grade::inconclusive;
}

}  // namespace jitrace
