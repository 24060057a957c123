#include "plan/applicable.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace jitrace {
namespace {

bool passes(const CataloguePreset& preset, Point point) {
  return std::find(preset.points.begin(), preset.points.end(), point) != preset.points.end();
}

bool is_tool(Victim victim) {
  return victim == Victim::build_tool || victim == Victim::compiler || victim == Victim::shell || victim == Victim::stage;
}

bool inside_compiler(Point point) { return point == Point::compile || point == Point::output || point == Point::link; }

std::string why_no_victim(Victim victim, const CataloguePreset& preset, const std::string& toolchain) {
  if (is_tool(victim) && toolchain == "nvrtc") {
    return fmt::format("nvrtc compiles inside the builder: there is no {} to hit", name_of(victim));
  }
  switch (victim) {
    case Victim::waiter:
      return preset.locks ? "" : fmt::format("{} has no lock, so nobody waits", preset.name);
    case Victim::build_tool:
      return preset.run == "ninja" ? "" : fmt::format("{} runs no build tool", preset.name);
    case Victim::shell:
      return preset.run == "popen" ? "" : fmt::format("{} starts its compiler without a shell", preset.name);
    case Victim::daemon:
      return preset.daemon ? "" : fmt::format("{} has no daemon", preset.name);
    case Victim::none:
    case Victim::builder:
    case Victim::worker:
    case Victim::compiler:
    case Victim::stage:
    case Victim::group:
    case Victim::tree:
    case Victim::other:
      return "";
  }
  return "";
}

}  // namespace

std::string why_not(const FaultStep& step, const CataloguePreset& preset, const std::string& toolchain) {
  if (step.at_random) return "a random moment is for commands: a built-in subject is hit at a point";
  if (!step.every_victim) {
    if (auto why = why_no_victim(step.who, preset, toolchain); !why.empty()) return why;
  }
  if ((step.what.kind == FaultKind::unlink_lock || step.path.find("{lock}") != std::string::npos) && !preset.locks) {
    return fmt::format("{} has no lock to remove", preset.name);
  }
  // Where a compile server builds, it is the builder; it leads no group of workers and hears no control descriptor.
  const bool server_builds = preset.daemon && inside_compiler(step.at);
  if (server_builds && step.who == Victim::group) return fmt::format("in {} the compile server builds, alone in its group", preset.name);
  if (server_builds && step.what.kind == FaultKind::exit_137) {
    return fmt::format("in {} the compile server builds, and nobody tells it to exit", preset.name);
  }
  if (step.every_point) return "";
  if (!passes(preset, step.at)) return fmt::format("{} does not pass {}", preset.name, name_of(step.at));
  if (toolchain == "nvrtc" && step.at == Point::link) return "nvrtc has no link step";
  if (!step.every_victim && is_tool(step.who) && !inside_compiler(step.at)) {
    return fmt::format("no {} runs at {}", name_of(step.who), name_of(step.at));
  }
  if (step.until != Point::none && !passes(preset, step.until)) {
    return fmt::format("{} does not pass {}", preset.name, name_of(step.until));
  }
  return "";
}

std::vector<std::pair<Victim, Point>> kill_points(const CataloguePreset& preset, const std::string& toolchain) {
  std::vector<std::pair<Victim, Point>> out;
  for (const Point point : preset.points) {
    for (const Victim victim : {Victim::builder, Victim::waiter, Victim::build_tool, Victim::compiler, Victim::shell,
                                Victim::stage, Victim::tree, Victim::daemon}) {
      // A waiter stands at the points before the lock; whoever gets further is a builder by then.
      if (victim == Victim::waiter && point != Point::lock_wait) continue;
      // A tree is more than its builder only while tools run below it.
      if ((victim == Victim::tree || victim == Victim::daemon) && !inside_compiler(point)) continue;
      FaultStep step;
      step.who = victim;
      step.at = point;
      if (why_not(step, preset, toolchain).empty()) out.emplace_back(victim, point);
    }
  }
  return out;
}

}  // namespace jitrace
