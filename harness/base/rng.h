#pragma once

#include <cstdint>

namespace jitrace {

// SplitMix64: the same numbers for the same seed on every machine and standard library.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound); bound > 0

 private:
  std::uint64_t state_;
};

// A seed for part `index` of whatever `seed` was for; neighbours are unrelated.
std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t index);

// 64 bits from the kernel, for names that must not collide across hosts. Never for plans.
std::uint64_t random_bits();

}  // namespace jitrace
