#include "verdict/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace jitrace {
namespace {

// I_x(a, b) has closed forms to hold it against: x^a for b = 1, and binomial tails for whole numbers.
TEST(IncompleteBeta, KnownValues) {
  EXPECT_NEAR(incomplete_beta(1, 1, 0.3), 0.3, 1e-12);
  EXPECT_NEAR(incomplete_beta(5, 1, 0.9), 0.59049, 1e-12);
  EXPECT_NEAR(incomplete_beta(2, 3, 0.5), 0.6875, 1e-12);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.25), 1.0 / 3.0, 1e-12);
  EXPECT_EQ(incomplete_beta(2, 2, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 2, 1), 1);
  // The binomial tail P(X >= 20) of 1000 draws at 0.02.
  double tail = 0, term = std::pow(0.98, 1000);
  for (int k = 0; k <= 1000; ++k) {
    if (k >= 20) tail += term;
    term *= (1000.0 - k) / (k + 1.0) * 0.02 / 0.98;
  }
  EXPECT_NEAR(incomplete_beta(20, 981, 0.02), tail, 1e-11);
}

// The closed forms of Clopper-Pearson at the ends, and the published interval of 5 in 10 and 4 in 20.
TEST(Rate, ClopperPearson) {
  for (const int n : {1, 10, 20, 1000}) {
    EXPECT_EQ(rate_of(0, n).low, 0);
    EXPECT_NEAR(rate_of(0, n).high, 1 - std::pow(0.025, 1.0 / n), 1e-12);
    EXPECT_NEAR(rate_of(n, n).low, std::pow(0.025, 1.0 / n), 1e-12);
    EXPECT_EQ(rate_of(n, n).high, 1);
  }
  EXPECT_NEAR(rate_of(5, 10).low, 0.187086, 1e-6);
  EXPECT_NEAR(rate_of(5, 10).high, 0.812914, 1e-6);
  EXPECT_NEAR(rate_of(4, 20).low, 0.057334, 1e-6);
  EXPECT_NEAR(rate_of(4, 20).high, 0.436614, 1e-6);
  EXPECT_EQ(rate_of(0, 0).low, 0);
  EXPECT_EQ(rate_of(0, 0).high, 1);
}

TEST(Rate, InWords) {
  EXPECT_EQ(in_words(rate_of(0, 200)), "none in 200 (below 1.5 %)");
  EXPECT_EQ(in_words(rate_of(0, 2)), "none in 2 (below 100 %)");
  EXPECT_EQ(in_words(rate_of(5, 10)), "5 of 10 (50.0 %, 95 % interval 18.7 to 81.3 %)");
  EXPECT_EQ(in_words(Rate{}), "no trial");
}

TEST(Percentile, InterpolatesBetweenNeighbours) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({7}, 0.95), 7);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3, 4, 5}, 0.95), 4.8);
  EXPECT_EQ(percentile({1, 2, 3}, 1), 3);
}

TEST(Spread, CountsWhoNeverGotThere) {
  const Spread spread = spread_of({10, 20, 30}, 2);
  EXPECT_EQ(spread.n, 3);
  EXPECT_EQ(spread.unrecovered, 2);
  EXPECT_EQ(spread.p50, 20);
  EXPECT_EQ(spread.max, 30);
}

}  // namespace
}  // namespace jitrace
