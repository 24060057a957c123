#include "base/rng.h"

#include <array>
#include <set>

#include "unit/base/fixture.h"

namespace jitrace {
namespace {

TEST(Rng, GivesTheSameNumbersEverywhere) {
  // SplitMix64's published values for seed 1234567.
  Rng rng(1234567);
  for (const std::uint64_t value : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                    4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(rng.next(), value);
  }
}

TEST(Rng, BelowIsBoundedAndEven) {
  Rng rng(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < 60'000; ++i) ++seen.at(rng.below(6));
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
  // A bound above half of all values, where a plain remainder would be most uneven.
  for (int i = 0; i < 100; ++i) EXPECT_LT(rng.below((1ULL << 63) + 1), (1ULL << 63) + 1);
}

TEST(Rng, DerivedSeedsDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t index = 0; index < 100; ++index) seeds.insert(derive_seed(seed, index));
  }
  EXPECT_EQ(seeds.size(), 10'000u);
  EXPECT_EQ(derive_seed(5, 9), derive_seed(5, 9));
}

TEST(Rng, RandomBitsAreNotAPlansNumbers) { EXPECT_NE(random_bits(), random_bits()); }

}  // namespace
}  // namespace jitrace
