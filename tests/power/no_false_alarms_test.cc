// 100 trials in which nothing is done to anybody: whatever is found is a false alarm.

#include "power/arena.h"
#include "strategy/preset.h"

namespace jitrace::power {
namespace {

class NoFalseAlarms : public Arena, public testing::WithParamInterface<int> {
 protected:
  static constexpr int workers = 8;
  static constexpr int parts = 4;  // a ctest each
  static constexpr int in_a_part = 25;
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto* table : {&presets(), &preset_variants()}) {
    for (const Preset& preset : *table) all.emplace_back(preset.name);
  }
  return all;
}

TEST_P(NoFalseAlarms, InTrialsWithoutAFault) {
  const std::vector<std::string> all = names();
  Tally tally;
  for (int i = 0; i < in_a_part; ++i) {
    const int trial = GetParam() * in_a_part + i + 1;
    Plan plan = Arena::plan(all[static_cast<std::size_t>(trial) % all.size()], workers);
    if (trial % 2 == 0) plan.kernels = {"axpy", "softmax"};
    if (trial % 3 == 0) plan.gets = 2;
    if (trial % 5 == 0) plan.rounds = 2;
    if (trial % 7 == 0) plan.fake_duration = milliseconds(30);
    const std::size_t before = tally.findings.size();
    add(tally, run({"", plan}, trial));
    if (tally.findings.size() != before) tally.findings.back() += " [" + plan.subject + "]";
  }
  EXPECT_EQ(tally.clean(), tally.trials) << testing::PrintToString(tally.findings);
  EXPECT_TRUE(tally.inconclusive.empty()) << testing::PrintToString(tally.inconclusive);
}

INSTANTIATE_TEST_SUITE_P(Parts, NoFalseAlarms, testing::Range(0, 4));

}  // namespace
}  // namespace jitrace::power
