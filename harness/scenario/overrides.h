#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace jitrace {

// What the command line says in place of the file. Absent or empty: the file's word stands.
struct Overrides {
  std::optional<int> workers, trials, rounds;
  std::optional<std::uint64_t> seed;
  // Subjects of the scenario by name, or presets, which then become subjects of their own. Only these run.
  std::vector<std::string> strategies;
  std::vector<std::string> toolchains;  // a cell for each; one that is missing on the machine is a skip
  std::optional<std::string> loader, device;
  std::vector<std::string> cache_dirs;  // one, or one per client
  std::optional<double> bound_scale;
};

// Changes the scenario. Gives everything that is wrong, one sentence each beginning with the flag; the scenario is
// unchanged then.
std::vector<std::string> apply(const Overrides& overrides, const Catalogue& catalogue, Scenario& scenario);

}  // namespace jitrace
