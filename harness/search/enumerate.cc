#include "search/enumerate.h"

#include <csignal>

#include <fmt/format.h>

#include "plan/applicable.h"

namespace jitrace {
namespace {

bool leaves_an_orphan(Victim victim, Point point, const std::string& toolchain) {
  return victim == Victim::builder && toolchain != "nvrtc" &&
         (point == Point::compile || point == Point::output || point == Point::link);
}

FaultEntry entry_of(Victim victim, Point point, OrphanOrder order) {
  FaultStep step;
  step.what = {FaultKind::kill, SIGKILL, Damage::none};
  step.who = victim;
  step.at = point;
  step.order = order;
  FaultEntry entry;
  entry.name = fmt::format("SIGKILL-{}-{}", name_of(victim), name_of(point));
  if (order != OrphanOrder::none) entry.name += fmt::format("-{}", name_of(order));
  entry.steps.push_back(step);
  return entry;
}

}  // namespace

std::vector<FaultEntry> every_kill(const CataloguePreset& preset, const std::string& toolchain) {
  std::vector<FaultEntry> out;
  for (const auto& [victim, point] : kill_points(preset, toolchain)) {
    if (leaves_an_orphan(victim, point, toolchain)) {
      out.push_back(entry_of(victim, point, OrphanOrder::first));
      out.push_back(entry_of(victim, point, OrphanOrder::held));
    } else {
      out.push_back(entry_of(victim, point, OrphanOrder::none));
    }
  }
  return out;
}

}  // namespace jitrace
