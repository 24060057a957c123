#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/scenario.h"

namespace jitrace {

// Why this fault cannot strike this preset when it builds with this kind of toolchain; empty if it can.
std::string why_not(const FaultStep& step, const CataloguePreset& preset, const std::string& toolchain);

// Every (victim, point) at which the preset can be hit with this kind of toolchain: workers at each point that it
// passes, tools and trees only while they run. In the order of the points.
std::vector<std::pair<Victim, Point>> kill_points(const CataloguePreset& preset, const std::string& toolchain);

}  // namespace jitrace
