#include "cli/environment.h"

#include <filesystem>

#include "base/file.h"
#include "strategy/preset.h"
#include "verdict/finding.h"

namespace jitrace {
namespace {

CataloguePreset entry_of(const Preset& preset) {
  CataloguePreset entry;
  entry.name = std::string(preset.name);
  entry.run = std::string(name_of(preset.run));
  entry.points = preset.points;
  for (const LockChoice& lock : preset.locks) {
    entry.locks = entry.locks || lock.kind != LockKind::none;
    entry.daemon = entry.daemon || lock.kind == LockKind::daemon;
  }
  return entry;
}

}  // namespace

Result<std::string> find_libexec() {
  const std::string own = own_dir();
  for (const std::string& candidate : {join(own, "libexec/jitrace"), join(own, "../libexec/jitrace")}) {
    if (exists(join(candidate, "guard"))) return candidate;
  }
  return make_error("find the helper programs beside", own, 0, "libexec/jitrace is missing: install or build jitrace again");
}

std::string find_scenarios() {
  for (const std::string& candidate : {join(own_dir(), "share/jitrace/scenarios"), join(own_dir(), "../share/jitrace/scenarios")}) {
    if (exists(candidate)) return candidate;
  }
  return "scenarios";
}

std::string find_kernels(const std::string& scenario_path) {
  // A scenario may lie anywhere in scenarios/; the kernels lie beside it or above it. Absolute: workers have directories
  // of their own.
  std::error_code code;
  const std::string full = std::filesystem::absolute(scenario_path, code).lexically_normal();
  for (std::string directory = parent_of(full); directory != "/"; directory = parent_of(directory)) {
    if (exists(join(directory, "kernels"))) return join(directory, "kernels");
  }
  return std::filesystem::absolute(join(find_scenarios(), "kernels"), code).lexically_normal();
}

std::vector<std::string> kernel_names(const std::string& directory) {
  constexpr std::string_view suffix = ".cu";
  std::vector<std::string> names;
  const auto files = list_dir(directory);
  if (!files) return names;
  for (const std::string& file : *files) {
    if (file.ends_with(suffix)) names.push_back(file.substr(0, file.size() - suffix.size()));
  }
  return names;
}

Catalogue make_catalogue() {
  Catalogue catalogue;
  for (const Preset& preset : presets()) catalogue.presets.push_back(entry_of(preset));
  for (const Preset& preset : preset_variants()) catalogue.presets.push_back(entry_of(preset));
  catalogue.finding_classes = finding_class_names();
  return catalogue;
}

}  // namespace jitrace
