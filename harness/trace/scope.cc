#include "trace/scope.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "plan/trace_plan.h"

namespace jitrace {
namespace {

constexpr int link_limit = 40;  // the kernel's own
constexpr std::size_t remembered_limit = 100'000;
constexpr std::string_view deleted = " (deleted)";

std::optional<std::string> link_content(int directory, const char* path) {
  char target[PATH_MAX];
  const ssize_t n = ::readlinkat(directory, path, target, sizeof target);
  if (n < 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(n));
}

std::string proc_entry(pid_t thread, const char* name) { return "/proc/" + std::to_string(thread) + "/" + name; }
std::string proc_link(const std::string& entry) { return link_content(AT_FDCWD, entry.c_str()).value_or(""); }

// What is left of `path` below `root`, "." for itself.
std::string below(const std::string& path, const std::string& root) {
  if (path.size() == root.size()) return ".";
  return path.substr(root == "/" ? 1 : root.size() + 1);
}

// "a/./b/../c" → "a/c": for what does not exist, so that no link can make it wrong.
std::string without_dots(const std::string& path) {
  std::vector<std::string> parts;
  for (std::string& part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") parts.push_back(std::move(part));
    else if (!parts.empty()) parts.pop_back();
  }
  return "/" + join_text(parts, "/");
}

std::string canonical_as_far_as_it_exists(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr) return resolved;
  const std::string parent = parent_of(path);
  if (parent == path) return path;
  return without_dots(join(canonical_as_far_as_it_exists(parent), base_of(path)));
}

// "/proc/self" would be us. Paths by way of a descriptor or the working directory say so in another manner.
struct Origin {
  int directory;
  std::string path;
};
Origin without_proc_self(pid_t thread, int directory, const std::string& path) {
  if (!path.starts_with("/proc/") && !path.starts_with("/dev/")) return {directory, path};
  if (path == "/dev/stdin") return {0, ""};
  if (path == "/dev/stdout") return {1, ""};
  if (path == "/dev/stderr") return {2, ""};
  std::string_view rest = path;
  const auto take = [&rest](std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  const std::string by_number = "/proc/" + std::to_string(thread) + "/";
  if (take("/proc/self/") || take("/proc/thread-self/") || take(by_number)) {
    if (take("cwd/")) return {AT_FDCWD, std::string(rest)};
    if (rest == "cwd") return {AT_FDCWD, "."};
    if (take("root/")) return {AT_FDCWD, "/" + std::string(rest)};
    if (!take("fd/")) return {directory, by_number + std::string(rest)};
  } else if (!take("/dev/fd/")) {
    return {directory, path};
  }
  const std::size_t slash = rest.find('/');
  const auto number = parse_int(rest.substr(0, slash));
  if (!number) return {directory, path};
  return {static_cast<int>(*number), slash == std::string_view::npos ? "" : std::string(rest.substr(slash + 1))};
}

// In the process's view, absolute links and ".." included.
Fd open_in(const std::string& entry, const std::string& path, int flags) {
  const Fd root(::open(entry.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  return Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

std::string name_of(const Fd& fd) { return proc_link("/proc/self/fd/" + std::to_string(fd.get())); }

}  // namespace

Result<Scope> Scope::create(const std::string& cache, const std::vector<std::string>& beside, const std::string& around) {
  Scope scope;
  char resolved[PATH_MAX];
  if (::realpath(cache.c_str(), resolved) == nullptr) return last_error("find the cache", cache);
  scope.cache_ = resolved;
  for (const std::string& path : beside) {
    scope.beside_.push_back(canonical_as_far_as_it_exists(path));
    // A link belongs to it as much as what it leads to.
    std::string link = join(canonical_as_far_as_it_exists(parent_of(path)), base_of(path));
    if (link != scope.beside_.back()) scope.beside_.push_back(std::move(link));
  }
  if (!around.empty()) scope.around_ = parent_of(scope.cache_);
  scope.own_namespace_ = proc_link("/proc/self/ns/mnt");
  scope.forget();
  return scope;
}

void Scope::forget() {
  directories_.clear();
  views_.clear();
  // It may have been removed and made anew; while it is away, the name alone counts.
  struct stat status {};
  if (::stat(cache_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

void Scope::set_temporary(const std::string& directory) {
  temporary_ = directory;
  canonical_temporary_ = canonical_as_far_as_it_exists(directory);
}

bool Scope::is_temporary(const std::string& path) const {
  return !temporary_.empty() && (is_under(path, temporary_) || is_under(path, canonical_temporary_));
}

std::string Scope::of_other(const std::string& path) const {
  if (!is_temporary(path)) return path;
  return std::string(temporary_name) + path.substr((is_under(path, temporary_) ? temporary_ : canonical_temporary_).size());
}

std::string Scope::expanded(const std::string& name, const std::string& temporary) {
  return is_under(name, temporary_name) ? temporary + name.substr(temporary_name.size()) : name;
}

std::string Scope::real_path(const std::string& name) const {
  if (!temporary_.empty() && is_under(name, temporary_name)) return expanded(name, temporary_);
  return name.starts_with('/') ? name : join(cache_, name);
}

bool Scope::is_cache(const struct stat& status) const {
  return status.st_ino == inode_ && status.st_dev == device_ && S_ISDIR(status.st_mode);
}

const Scope::View& Scope::view_of(pid_t thread) {
  const auto at = views_.find(thread);
  if (at != views_.end()) return at->second;
  View view;
  view.entry = proc_entry(thread, "root");
  view.root = proc_link(view.entry);
  const std::string mounts = proc_link(proc_entry(thread, "ns/mnt"));
  if (views_.size() >= remembered_limit) views_.clear();
  // Empty: it is gone, or keeps us out, and then its files are as good as out of reach for it, too.
  view.ours = view.root.empty() || (view.root == "/" && (mounts.empty() || mounts == own_namespace_));
  if (!view.ours) view.key = mounts + view.root + "|";
  return views_.emplace(thread, std::move(view)).first->second;
}

std::optional<std::string> Scope::of_path(pid_t thread, int directory, const std::string& path, bool follows) {
  const auto found = locate(thread, directory, path, follows);
  return found && found->of_cache ? std::optional(found->name) : std::nullopt;
}

std::optional<std::string> Scope::outside(pid_t thread, int directory, const std::string& path, bool follows) {
  const auto found = locate(thread, directory, path, follows);
  return found && !found->outside.empty() ? std::optional(found->outside) : std::nullopt;
}

std::optional<std::string> Scope::of_descriptor(pid_t thread, int fd) {
  const auto found = locate_descriptor(thread, fd);
  return found && found->of_cache ? std::optional(found->name) : std::nullopt;
}

std::optional<Scope::Located> Scope::locate(pid_t thread, int directory, const std::string& path, bool follows) {
  if (path.empty()) return std::nullopt;
  const Origin origin = without_proc_self(thread, directory, path);
  if (origin.path.empty()) return follows ? locate_descriptor(thread, origin.directory) : std::nullopt;
  const View& view = view_of(thread);
  if (origin.path.front() == '/') return resolve(view, origin.path, follows);
  const std::string entry = origin.directory == AT_FDCWD
                                ? proc_entry(thread, "cwd")
                                : proc_entry(thread, "fd/") + std::to_string(origin.directory);
  std::string from = proc_link(entry);
  if (!from.starts_with('/')) return std::nullopt;
  if (!view.ours && is_under(from, view.root)) from = join("/", below(from, view.root));
  return resolve(view, join(from, origin.path), follows);
}

std::optional<Scope::Located> Scope::locate_descriptor(pid_t thread, int fd) {
  std::string path = proc_link(proc_entry(thread, "fd/") + std::to_string(fd));
  if (!path.starts_with('/')) return std::nullopt;  // a pipe, a socket
  const View& view = view_of(thread);
  if (!view.ours && is_under(path, view.root)) path = join("/", below(path, view.root));
  return resolve(view, std::move(path), false);
}

std::optional<Scope::Located> Scope::resolve(const View& view, std::string path, bool follows) {
  for (int links = 0; links < link_limit; ++links) {
    while (path.size() > 1 && path.back() == '/') {
      path.pop_back();
      follows = true;  // "link/" is the directory, whatever the call
    }
    std::string last = base_of(path);
    if (last.empty() || last == "." || last == "..") return name_in(view, place_of(view, path), "");
    const std::string parent = parent_of(path);
    const Place place = place_of(view, parent);
    if (place.inside && !follows) return name_in(view, place, last);
    struct stat status {};
    std::optional<std::string> target;
    if (view.ours) {
      if (::lstat(path.c_str(), &status) != 0) return name_in(view, place, last);
      if (S_ISLNK(status.st_mode) && follows) target = link_content(AT_FDCWD, path.c_str());
    } else {
      const Fd fd = open_in(view.entry, path, O_PATH | O_NOFOLLOW);
      if (!fd || ::fstat(fd.get(), &status) != 0) return name_in(view, place, last);
      if (S_ISLNK(status.st_mode) && follows) target = link_content(fd.get(), "");
    }
    if (is_cache(status)) return Located{true, ".", {}};
    if (!target || target->empty()) return name_in(view, place, last);
    path = target->front() == '/' ? *target : join(parent, *target);
  }
  return std::nullopt;
}

Scope::Place Scope::place_of(const View& view, const std::string& directory) {
  const std::string key = view.key + directory;
  const auto at = directories_.find(key);
  if (at != directories_.end()) return at->second;
  if (auto place = look_up(view, directory)) {
    // What /proc shows changes without a call that we would see.
    if (directory.starts_with("/proc/")) return *place;
    if (directories_.size() >= remembered_limit) directories_.clear();
    return directories_.emplace(key, std::move(*place)).first->second;
  }
  // It does not exist, or not as a directory: then the name counts, from where it does. Not remembered: it may come.
  if (directory == "/") return {false, "/"};
  Place place = place_of(view, parent_of(directory));
  const std::string name = base_of(directory);
  if (place.inside && name != "..") {
    place.name = name_in(view, place, name).name;
  } else if (place.inside) {
    place = place.name == "." ? Place{false, parent_of(cache_)} : Place{true, parent_of(place.name)};
  } else {
    place.name = without_dots(join(place.name, name));
    if (view.ours && is_under(place.name, cache_)) place = {true, below(place.name, cache_)};
  }
  return place;
}

// From the kernel: nothing if it is no directory.
std::optional<Scope::Place> Scope::look_up(const View& view, const std::string& directory) const {
  Fd fd = view.ours ? Fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))
                    : open_in(view.entry, directory, O_PATH | O_DIRECTORY);
  if (!fd) return std::nullopt;
  std::string name = name_of(fd);
  if (view.ours && is_under(name, cache_)) return Place{true, below(name, cache_)};
  // By way of a bind mount, or in another mount namespace, where names say nothing: is one of its parents the cache?
  struct stat status {};
  Fd at(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  std::uint64_t device = 0, inode = 0;
  while (at && ::fstat(at.get(), &status) == 0 && !(status.st_dev == device && status.st_ino == inode)) {
    if (is_cache(status)) return Place{true, below(name, name_of(at))};
    device = status.st_dev;
    inode = status.st_ino;
    at = Fd(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  if (!view.ours && is_under(name, view.root)) name = join("/", below(name, view.root));
  return Place{false, std::move(name)};
}

// Of the entry `last` of a directory, of the directory itself if there is none.
Scope::Located Scope::name_in(const View& view, const Place& place, const std::string& last) const {
  if (place.inside) {
    if (last.empty()) return {true, place.name, {}};
    return {true, place.name == "." ? last : join(place.name, last), {}};
  }
  const std::string path = last.empty() ? place.name : join(place.name, last);
  if (view.ours && path == cache_) return {true, ".", {}};
  if (!around_.empty() && path.size() > around_.size() && is_under(path, around_)) return {true, "../" + below(path, around_), {}};
  const bool belongs = std::any_of(beside_.begin(), beside_.end(), [&path](const std::string& root) { return is_under(path, root); });
  return {belongs, belongs ? of_other(path) : path, path};
}

}  // namespace jitrace
