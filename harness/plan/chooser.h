#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace jitrace {

// A step that some process of the trial stands before and could take now.
struct Step {
  Slot slot = driver_slot;
  std::string what;  // a point's name, or a system call with its path; the same step reads the same in every run

  friend bool operator==(const Step&, const Step&) = default;
};

// Decides which of the enabled steps goes next. A pure function of the plan (prefix, policy, seed) and of the steps
// that it was shown: no clock, no system call, so the same plan meets the same choices. Asked by the supervisor of a
// traced trial at every step; learning from a trial is the search's business, through the history.
class Chooser {
 public:
  virtual ~Chooser() = default;
  // An index into `enabled`, which is not empty and is ordered by slot. Fails when the plan prescribes a step that is
  // not enabled: the subject has diverged, and the error names the step.
  virtual Result<std::size_t> choose(const std::vector<Step>& enabled) = 0;
};

// Takes the steps of a prefix, in order, and the first enabled one after it.
class PrefixChooser : public Chooser {
 public:
  explicit PrefixChooser(std::vector<Step> prefix) : prefix_(std::move(prefix)) {}
  Result<std::size_t> choose(const std::vector<Step>& enabled) override;

 private:
  std::vector<Step> prefix_;
  std::size_t next_ = 0;
};

}  // namespace jitrace
