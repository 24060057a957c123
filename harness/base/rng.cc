#include "base/rng.h"

#include <sys/random.h>

#include "base/check.h"

namespace jitrace {

std::uint64_t Rng::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Rng::below(std::uint64_t bound) {
  JITRACE_CHECK(bound > 0);
  // Values under `excess` would make the low remainders more likely; they are drawn again.
  const std::uint64_t excess = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= excess) return value % bound;
  }
}

std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t index) {
  Rng outer(seed);
  Rng inner(outer.next() ^ (index * 0xd1342543de82ef95ULL));
  return inner.next();
}

std::uint64_t random_bits() {
  std::uint64_t value = 0;
  JITRACE_CHECK(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

}  // namespace jitrace
