// fuzz_scenario SECONDS SEED [FILE …]: reads mutated scenarios until the time is over. A crash, a sanitizer's report or an
// answer that is neither a scenario nor an error ends it; the text that did it is left in fuzz_scenario.last.

#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "unit/scenario/catalogue.h"
#include "unit/scenario/mutate.h"

namespace {

using namespace jitrace;

int fuzz(std::int64_t for_seconds, std::uint64_t seed, const std::vector<std::string>& texts) {
  const Catalogue catalogue = small_catalogue();
  Rng rng(seed);
  const Nanoseconds end = now() + seconds(for_seconds);
  std::int64_t tried = 0, read = 0;
  while (now() < end) {
    const std::string text = mutate(texts[static_cast<std::size_t>(rng.below(texts.size()))], rng);
    // Before the reading: a crash leaves no time for it.
    if (const auto kept = write_file("fuzz_scenario.last", text); !kept) {
      std::fprintf(stderr, "%s\n", kept.error().message().c_str());
      return 70;
    }
    const ParsedScenario parsed = parse_scenario(text, "fuzz.toml", catalogue);
    if (parsed.scenario.has_value() == !parsed.errors.empty()) {
      std::fprintf(stderr, "neither a scenario nor an error: see fuzz_scenario.last\n");
      return 1;
    }
    ++tried;
    read += parsed.scenario.has_value() ? 1 : 0;
  }
  std::printf("seed %llu: %lld mutated scenarios, %lld of them readable, none brought the reader down\n",
              static_cast<unsigned long long>(seed), static_cast<long long>(tried), static_cast<long long>(read));
  if (const auto removed = remove_file("fuzz_scenario.last"); !removed) return 70;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto for_seconds = argc > 2 ? jitrace::parse_int(argv[1]) : std::nullopt;
  const auto seed = argc > 2 ? jitrace::parse_int(argv[2]) : std::nullopt;
  if (!for_seconds || !seed) {
    std::fprintf(stderr, "usage: fuzz_scenario SECONDS SEED [FILE ...]\n");
    return 64;
  }
  std::vector<std::string> texts{std::string(jitrace::default_scenario()) + jitrace::minimal};
  for (int i = 3; i < argc; ++i) {
    const auto text = jitrace::read_file(argv[i]);
    if (!text) {
      std::fprintf(stderr, "%s\n", text.error().message().c_str());
      return 64;
    }
    texts.push_back(*text);
  }
  return fuzz(*for_seconds, static_cast<std::uint64_t>(*seed), texts);
}
