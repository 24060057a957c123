#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/temp_dir.h"
#include "power/duel.h"
#include "trial/trial.h"
#include "verdict/trial_verdict.h"

namespace jitrace::power {

// One side of a duel: a plan, carried out by the worker as it is or by the one with a planted bug.
struct Arm {
  std::string bug;  // empty: none
  Plan plan;
};

// Runs plans on the fake compiler with real processes, in one lane.
class Arena : public testing::Test {
 protected:
  static constexpr int trials = 5;

  void SetUp() override;

  // A gated plan for `count` workers of one preset, without a fault.
  static Plan plan(const std::string& preset, int count = 4);
  static FaultPlan fault(FaultKind kind, Victim who, Point point);
  // Who is stopped so goes on when nobody else can move: no preset here passes the point that would let it go earlier.
  static FaultPlan stop_for_a_while(Victim who, int index, Point point, Point until = Point::break_lock);

  TrialVerdict run(const Arm& arm, int trial);
  // The arms' trials take turns, as two strategies would be compared. Fails with the complaint.
  void duel(FindingClass kind, const Arm& armed, const Arm& control, Inconclusive inconclusive = Inconclusive::refused,
            int times = trials);

 private:
  std::string libexec_with(const std::string& bug);
  void make_toolchain_ready(const Plan& plan);

  std::optional<TempDir> directory_;
  jitrace::Setup setup_;  // testing::Test has a Setup of its own
  std::optional<Toolchain> fake_;
  std::optional<Lane> lane_;
  Fd interrupt_;
};

}  // namespace jitrace::power
