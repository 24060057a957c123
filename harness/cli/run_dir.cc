#include "cli/run_dir.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/text.h"

namespace jitrace {
namespace {

std::string file_name(std::string text) {
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    if (!plain) c = '_';
  }
  return text;
}

std::string trial_name(int trial, const char* extension) { return "trial-" + std::to_string(trial) + extension; }

}  // namespace

Result<RunDir> RunDir::create(const std::string& path) {
  TRY(make_dirs(path));
  std::error_code code;
  const std::string full = std::filesystem::absolute(path, code).lexically_normal();
  TRY_ASSIGN(const std::vector<std::string> names, list_dir(full));
  if (!names.empty()) return make_error("write the run to", full, 0, "it is not empty; name another directory with --out");
  TRY(make_dirs(join(full, "cells")));
  return RunDir(full);
}

std::string RunDir::cell_dir(const std::string& cell) const { return join(join(path_, "cells"), file_name(cell)); }

std::string RunDir::plan_path(const std::string& cell, int trial) const {
  return join(cell_dir(cell), trial_name(trial, ".plan"));
}

Result<void> RunDir::save_history(const std::string& cell, int trial, const History& history) const {
  TRY(make_dirs(cell_dir(cell)));
  return write_file_atomically(join(cell_dir(cell), trial_name(trial, ".history")), history.text());
}

Result<void> RunDir::save_plan(const std::string& cell, int trial, const Plan& plan, const std::string& finding) const {
  TRY(make_dirs(cell_dir(cell)));
  return write_file_atomically(plan_path(cell, trial), plan.text() + "# showed: " + finding + "\n");
}

Result<void> RunDir::save_cache(const std::string& cell, int trial, const std::string& cache_dir) const {
  TRY(make_dirs(cell_dir(cell)));
  std::error_code code;
  const std::string to = join(cell_dir(cell), trial_name(trial, ".cache"));
  std::filesystem::copy(cache_dir, to, std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks, code);
  if (code) return make_error("keep the cache in", to, code.value());
  return {};
}

Result<std::vector<std::string>> RunDir::histories() const {
  std::vector<std::string> found;
  const std::string cells = join(path_, "cells");
  TRY_ASSIGN(const std::vector<std::string> names, list_dir(cells));
  for (const std::string& cell : names) {
    TRY_ASSIGN(const std::vector<std::string> files, list_dir(join(cells, cell)));
    for (const std::string& file : files) {
      if (file.ends_with(".history")) found.push_back(join(join(cells, cell), file));
    }
  }
  return found;
}

std::string fresh_run_path(const std::string& scenario_name) {
  for (int n = 1;; ++n) {
    std::string path = "jitrace-runs/" + file_name(scenario_name) + "-" + std::to_string(n);
    if (!exists(path)) return path;
  }
}

}  // namespace jitrace
