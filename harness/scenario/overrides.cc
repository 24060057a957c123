#include "scenario/overrides.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace jitrace {
namespace {

void check_range(std::vector<std::string>& errors, std::string_view flag, const std::optional<int>& value, int high) {
  if (value && (*value < 1 || *value > high)) {
    errors.push_back(fmt::format("{}: {} is not within 1 to {}", flag, *value, high));
  }
}

void check_name(std::vector<std::string>& errors, std::string_view flag, std::string_view what, const std::string& name,
                const std::vector<std::string>& candidates) {
  if (std::find(candidates.begin(), candidates.end(), name) == candidates.end()) {
    errors.push_back(fmt::format("{}: {}", flag, unknown(what, name, candidates)));
  }
}

// "sm_90a", or the number of one device.
bool names_device(const std::string& text) {
  const bool arch = text.starts_with("sm_");
  const std::string_view rest = std::string_view(text).substr(arch ? 3 : 0);
  return !rest.empty() && rest.size() < 13 && rest.front() >= '0' && rest.front() <= '9' &&
         std::all_of(rest.begin(), rest.end(), [arch](char c) { return (c >= '0' && c <= '9') || (arch && c >= 'a' && c <= 'z'); });
}

void choose_subjects(const Overrides& overrides, const Catalogue& catalogue, Scenario& scenario,
                     std::vector<std::string>& errors) {
  std::vector<std::string> candidates;
  for (const Subject& subject : scenario.subjects) candidates.push_back(subject.name);
  for (const std::string& name : preset_names(catalogue)) {
    if (std::find(candidates.begin(), candidates.end(), name) == candidates.end()) candidates.push_back(name);
  }
  std::vector<Subject> chosen;
  for (const std::string& name : overrides.strategies) {
    const auto same_name = [&](const Subject& subject) { return subject.name == name; };
    if (std::any_of(chosen.begin(), chosen.end(), same_name)) continue;
    const auto found = std::find_if(scenario.subjects.begin(), scenario.subjects.end(), same_name);
    if (found != scenario.subjects.end()) {
      chosen.push_back(*found);
    } else if (catalogue.find(name) != nullptr) {
      chosen.push_back({name, {{name, -1, "get"}}, false, {}});
    } else {
      errors.push_back("--strategy: " + unknown("subject or preset", name, candidates));
    }
  }
  scenario.subjects = std::move(chosen);
}

}  // namespace

std::vector<std::string> apply(const Overrides& overrides, const Catalogue& catalogue, Scenario& scenario) {
  std::vector<std::string> errors;
  Scenario changed = scenario;
  Workload& workload = changed.workload;
  check_range(errors, "--workers", overrides.workers, 4096);
  check_range(errors, "--trials", overrides.trials, 1'000'000);
  check_range(errors, "--rounds", overrides.rounds, 1000);
  if (overrides.workers) {
    workload.workers = {*overrides.workers};
    for (FaultEntry& fault : changed.faults) fault.workers.reset();
  }
  if (overrides.trials) {
    workload.trials = *overrides.trials;
    for (FaultEntry& fault : changed.faults) fault.trials.reset();
  }
  if (overrides.rounds) {
    workload.rounds = *overrides.rounds;
    for (FaultEntry& fault : changed.faults) fault.rounds.reset();
  }
  if (overrides.seed) workload.seed = *overrides.seed;
  if (!overrides.strategies.empty()) choose_subjects(overrides, catalogue, changed, errors);
  if (!overrides.toolchains.empty()) {
    for (const std::string& name : overrides.toolchains) check_name(errors, "--toolchain", "toolchain", name, catalogue.toolchains);
    workload.each_toolchain.clear();
    for (const std::string& name : overrides.toolchains) {
      auto& each = workload.each_toolchain;
      if (std::find(each.begin(), each.end(), name) == each.end()) each.push_back(name);
    }
  }
  if (overrides.loader) {
    check_name(errors, "--loader", "loader", *overrides.loader, catalogue.loaders);
    workload.loader = *overrides.loader;
  }
  if (overrides.device) {
    if (!names_device(*overrides.device)) {
      errors.push_back(fmt::format("--device: \"{}\" is no device; one reads \"sm_90a\"", *overrides.device));
    }
    workload.device = *overrides.device;
  }
  if (!overrides.cache_dirs.empty()) {
    for (const std::string& dir : overrides.cache_dirs) {
      if (dir.empty()) errors.push_back("--cache: a directory needs a name");
    }
    if (overrides.cache_dirs.size() > 64) errors.push_back("--cache: more than 64 directories");
    changed.cache.dirs = overrides.cache_dirs;
    if (overrides.cache_dirs.size() > 1) {
      changed.cache.clients = static_cast<int>(overrides.cache_dirs.size());
      for (FaultEntry& fault : changed.faults) fault.clients.reset();
    }
  }
  if (overrides.bound_scale) {
    if (!(*overrides.bound_scale >= 1e-6 && *overrides.bound_scale <= 1e3)) {
      errors.push_back(fmt::format("--bound-scale: {:g} is not within 1e-06 to 1000", *overrides.bound_scale));
    }
    workload.bound_scale = *overrides.bound_scale;
    for (FaultEntry& fault : changed.faults) fault.bound_scale.reset();
  }
  if (errors.empty()) scenario = std::move(changed);
  return errors;
}

}  // namespace jitrace
