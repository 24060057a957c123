#include "cli/prepared.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/environment.h"
#include "loader/loader.h"

namespace jitrace {

Result<Machine> look_around(const std::vector<std::string>& nvcc) {
  Machine machine;
  TRY_ASSIGN(machine.libexec, find_libexec());
  ToolchainSearch search;
  search.nvcc = nvcc;
  search.libexec = machine.libexec;
  machine.probes = find_toolchains(search);
  for (const ToolchainProbe& probe : machine.probes) {
    if (!probe.toolchain) continue;
    machine.toolchains.push_back(*probe.toolchain);
    machine.usable.toolchains.push_back(probe.toolchain->name);
  }
  for (const LoaderProbe& loader : find_loaders()) {
    if (loader.usable) machine.usable.loaders.push_back(loader.name);
  }
  return machine;
}

namespace {

// Two clients see one directory, or whatever they find says nothing of a shared cache.
Result<void> check_one_directory(const std::vector<std::string>& roots) {
  for (std::size_t i = 1; i < roots.size(); ++i) {
    const std::string sign = "client-" + std::to_string(i);
    TRY(write_file(join(roots.front(), sign), ""));
    if (exists(join(roots[i], sign))) continue;
    const std::string both = parent_of(roots.front()) + " and " + parent_of(roots[i]);
    return make_error("use the cache directories", both, 0,
                      "a file made in the first is not in the other: two clients need two mounts of one directory");
  }
  for (std::size_t i = 1; i < roots.size(); ++i) TRY(remove_file(join(roots.front(), "client-" + std::to_string(i))));
  return {};
}

}  // namespace

Result<std::vector<std::string>> make_caches(const std::vector<std::string>& dirs, const std::string& run_dir,
                                             const std::string& run_id) {
  const char* const remedy = dirs.empty() ? "it lies in the run directory; name another with --out, or one for the cache with --cache"
                                          : "name another with --cache";
  std::vector<std::string> roots;
  std::vector<std::string> wanted = dirs;
  if (wanted.empty()) wanted.push_back(join(run_dir, "cache"));
  for (const std::string& dir : wanted) {
    std::error_code code;
    const std::string full = std::filesystem::absolute(dir, code).lexically_normal();
    if (dirs.empty()) TRY(make_dirs(full));
    if (!exists(full)) return make_error("use the cache directory", full, ENOENT, "create it, or name another with --cache");
    if (!std::filesystem::is_directory(full, code)) return make_error("use the cache directory", full, ENOTDIR);
    const std::string root = join(full, "jitrace-" + run_id);
    if (const auto made = make_dirs(root); !made) {
      return make_error("use the cache directory", full, made.error().code, std::string("a directory cannot be made in it; is it writable? If not, ") + remedy);
    }
    // A full file system lets a directory be made and nothing be written.
    const std::string probe = join(root, "probe");
    const std::string page(4096, '\0');
    auto written = write_file(probe, page);
    if (written) written = remove_file(probe);
    if (!written) {
      (void)remove_tree(root);
      return make_error("use the cache directory", full, written.error().code, std::string("nothing can be written in it; ") + remedy);
    }
    roots.push_back(root);
  }
  if (const auto one = check_one_directory(roots); !one) {
    for (const std::string& root : roots) (void)remove_tree(root);
    return one.error();
  }
  return roots;
}

Result<std::vector<Lane>> start_lanes(int count, const std::string& libexec, const std::vector<std::string>& scrap) {
  std::vector<Lane> lanes;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(Guard guard, Guard::start(join(libexec, "guard")));
    for (const std::string& directory : scrap) TRY(guard.add_scrap(directory));
    lanes.push_back({i, std::move(guard), 0});
  }
  return lanes;
}

ExitCode code_for(const Error& error) {
  switch (error.code) {
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case EPERM:
    case EIO:
    case ESTALE:
    case EBUSY:  // another build's lock lies where ours would
      return ExitCode::unusable;
    default:
      return ExitCode::own_fault;
  }
}

ExitCode complain(const Error& error, ExitCode code) {
  std::fprintf(stderr, "jitrace: %s\n", error.message().c_str());
  return code;
}

}  // namespace jitrace
