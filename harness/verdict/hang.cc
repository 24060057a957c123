#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "verdict/oracles.h"

namespace jitrace {

namespace {

// The chain comes as sentences; a line each.
std::vector<std::string> sentences(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    std::size_t at = 0;
    for (std::size_t stop = line.find(". "); stop != std::string::npos; stop = line.find(". ", at)) {
      lines.push_back(line.substr(at, stop - at));
      at = stop + 2;
    }
    if (at < line.size()) lines.push_back(line.substr(at));
  }
  return lines;
}

}  // namespace

// The proof is the driver's (it alone saw the processes); here it becomes one finding per worker, and `wedged` once the
// hang is proved again for workers that started afresh on the same cache.
void find_hangs(const TrialView& view, TrialVerdict& verdict) {
  std::set<std::int64_t> hung_rounds;
  std::set<Slot> seen;
  const Event* again = nullptr;
  for (const Event& event : view.history.events) {
    if (event.kind != EventKind::hang_proved || !seen.insert(event.slot).second) continue;
    // Whom the plan stopped is the cause and no victim; the trial may well end with nobody but it.
    const WorkerFact* hung = view.worker(event.slot);
    if (hung != nullptr && hung->stopped_for_ever) continue;
    if (!hung_rounds.empty() && !hung_rounds.contains(event.b) && again == nullptr) again = &event;
    hung_rounds.insert(event.b);
    Finding finding;
    finding.kind = FindingClass::hang;
    finding.cause = name_of(static_cast<HangCause>(event.a));
    finding.round = static_cast<int>(event.b);
    finding.slot = event.slot;
    finding.key = event.key;
    finding.evidence = sentences(event.text);
    verdict.findings.push_back(std::move(finding));
  }
  if (again == nullptr) return;
  Finding finding;
  finding.kind = FindingClass::wedged;
  finding.cause = name_of(static_cast<HangCause>(again->a));
  finding.round = static_cast<int>(again->b);
  finding.slot = again->slot;
  finding.key = again->key;
  finding.evidence = sentences(again->text);
  finding.evidence.push_back("the hang was proved in an earlier round, and again for workers that started afresh");
  verdict.findings.push_back(std::move(finding));
}

}  // namespace jitrace
