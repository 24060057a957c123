#include "cli/run_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/text.h"
#include "event/checksum.h"

namespace jitrace {
namespace {

std::string file_name(std::string text) {
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    if (!plain) c = '_';
  }
  return text;
}

// A name of its own for each cell: "torch-baton/kill/fake/sm_90a" → "torch-baton+kill+fake+sm_90a", %xx for what is neither
// plain nor a slash; a long one ends in its digest.
std::string cell_name(const std::string& cell) {
  constexpr std::size_t most = 180;  // of the 255 that file systems take
  std::string name;
  for (const char c : cell) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    if (c == '/') name += '+';
    else if (plain) name += c;
    else name += "%" + hex(static_cast<unsigned char>(c)).substr(14);
  }
  return name.size() <= most ? name : name.substr(0, most) + "%" + hex(checksum64(cell));
}

std::string trial_name(int trial, const char* extension) { return "trial-" + std::to_string(trial) + extension; }

}  // namespace

Result<RunDir> RunDir::create(const std::string& path) {
  std::error_code code;
  std::string full = std::filesystem::absolute(path, code).lexically_normal();
  if (full.size() > 1 && full.ends_with('/')) full.pop_back();
  std::vector<std::string> made;
  for (std::string up = full; up != "/" && !exists(up); up = parent_of(up)) made.push_back(up);
  if (const auto created = make_dirs(full); !created) {
    return make_error("write the run to", full, created.error().code, "name another directory with --out");
  }
  TRY_ASSIGN(const std::vector<std::string> names, list_dir(full));
  const std::string taken = "it is not empty; name another directory with --out";
  if (!names.empty()) return make_error("write the run to", full, EEXIST, taken);
  // Who makes this one has the directory, should two come at once.
  const std::string cells = join(full, "cells");
  if (::mkdir(cells.c_str(), 0777) != 0) {
    return make_error("write the run to", full, errno, errno == EEXIST ? taken : "name another directory with --out");
  }
  RunDir run_dir(full);
  made.insert(made.begin(), cells);
  run_dir.made_ = std::move(made);
  return run_dir;
}

Result<RunDir> RunDir::create_fresh(const std::string& scenario_name) {
  for (int n = 1;; ++n) {
    const std::string path = "jitrace-runs/" + file_name(scenario_name) + "-" + std::to_string(n);
    if (exists(path)) continue;
    auto run_dir = create(path);
    if (run_dir || run_dir.error().code != EEXIST) return run_dir;
  }
}

void RunDir::discard() const {
  (void)::rmdir(join(path_, "cache").c_str());  // where the caches lie if nothing else was asked for
  for (const std::string& directory : made_) {
    if (::rmdir(directory.c_str()) != 0) return;
  }
}

std::string RunDir::cell_dir(const std::string& cell) const { return join(join(path_, "cells"), cell_name(cell)); }

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
  const std::string to = join(cell_dir(cell), trial_name(trial, ".cache"));
  TRY(make_dirs(to));
  for (const std::string& name : list_tree(cache_dir)) {
    const std::string from = join(cache_dir, name);
    struct stat s {};
    if (name.ends_with('/')) TRY(make_dirs(join(to, name.substr(0, name.size() - 1))));
    // A daemon's socket is no data, and cannot be copied.
    else if (::stat(from.c_str(), &s) == 0 && S_ISREG(s.st_mode)) TRY(copy_file(from, join(to, name)));
  }
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

std::string shown_path(const std::string& path) {
  std::error_code code;
  const std::string here = std::filesystem::current_path(code).string() + "/";
  return !code && path.size() > here.size() && path.starts_with(here) ? path.substr(here.size()) : path;
}

}  // namespace jitrace
