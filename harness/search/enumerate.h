#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace jitrace {

// Every single fault that can strike this preset when it builds with this kind of toolchain: each victim at each point at
// which it is there, by SIGKILL, and for a builder that leaves its compiler behind both orders of what comes after. One
// entry each, named after its step ("SIGKILL-builder-compile-orphan-held"). In the order of the points.
std::vector<FaultEntry> every_kill(const CataloguePreset& preset, const std::string& toolchain);

}  // namespace jitrace
