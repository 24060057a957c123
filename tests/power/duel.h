#pragma once

#include <map>
#include <string>
#include <vector>

#include "verdict/trial_verdict.h"

namespace jitrace::power {

// What the trials of one arm have shown.
struct Tally {
  int trials = 0;
  std::map<FindingClass, int> shown;      // class → trials
  std::vector<std::string> inconclusive;  // reasons, one a trial
  std::vector<std::string> findings;      // class, cause and first evidence, for the message

  int of(FindingClass kind) const;
  int clean() const;  // trials without any finding
  int with_findings = 0;
};
void add(Tally& tally, const TrialVerdict& verdict);

// Whether a trial of the armed arm may end without a conclusion beside its finding (the watchdog had to end it).
enum class Inconclusive { refused, allowed_when_armed };

// What is wrong with a pair of arms; empty: nothing. Both arms are gated, so always is meant: the armed arm shows its
// class in every trial, the control shows nothing at all in any, and so the first does at least three times as often.
std::string complaint(FindingClass kind, const Tally& armed, const Tally& control,
                      Inconclusive inconclusive = Inconclusive::refused);

}  // namespace jitrace::power
