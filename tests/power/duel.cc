#include "power/duel.h"

#include <set>

#include <fmt/format.h>

namespace jitrace::power {
namespace {

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += "\n    " + line;
  return text;
}

}  // namespace

int Tally::of(FindingClass kind) const {
  const auto found = shown.find(kind);
  return found == shown.end() ? 0 : found->second;
}

int Tally::clean() const { return trials - with_findings; }

void add(Tally& tally, const TrialVerdict& verdict) {
  ++tally.trials;
  std::set<FindingClass> seen;
  for (const Finding& finding : verdict.findings) {
    seen.insert(finding.kind);
    tally.findings.push_back(fmt::format("trial {}: {} ({}): {}", verdict.trial, name_of(finding.kind), finding.cause,
                                         finding.evidence.empty() ? "" : finding.evidence.front()));
  }
  for (const FindingClass kind : seen) ++tally.shown[kind];
  if (!seen.empty()) ++tally.with_findings;
  if (!verdict.inconclusive.empty())
    tally.inconclusive.push_back(fmt::format("trial {}: {}", verdict.trial, verdict.inconclusive));
}

std::string complaint(FindingClass kind, const Tally& armed, const Tally& control, Inconclusive inconclusive) {
  std::string text;
  if (!control.inconclusive.empty()) text += "the control was inconclusive:" + lines(control.inconclusive) + "\n";
  if (!armed.inconclusive.empty() && inconclusive == Inconclusive::refused)
    text += "the armed arm was inconclusive:" + lines(armed.inconclusive) + "\n";
  if (control.clean() < control.trials || control.trials == 0) {
    text += fmt::format("a false alarm: the control was clean in {} of {} trials:{}\n", control.clean(), control.trials,
                        lines(control.findings));
  }
  if (armed.of(kind) < armed.trials || armed.trials == 0) {
    text += fmt::format("the harness has gone blind: {} was shown in {} of {} trials; seen instead:{}\n", name_of(kind),
                        armed.of(kind), armed.trials, lines(armed.findings));
  }
  // Of as many trials on either side; equal numbers make the counts comparable.
  if (armed.of(kind) == 0 || armed.of(kind) < 3 * control.of(kind) || armed.trials != control.trials) {
    text += fmt::format("{} was shown {} times in {} armed trials and {} times in {} controls, which tells nothing\n",
                        name_of(kind), armed.of(kind), armed.trials, control.of(kind), control.trials);
  }
  return text;
}

}  // namespace jitrace::power
