#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace jitrace {
namespace {

Result<std::string> read_fd(const Fd& fd, const std::string& path) {
  std::string data;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n > 0) data.append(buffer, static_cast<std::size_t>(n));
    else if (n == 0) return data;
    else if (errno != EINTR) return last_error("read", path);
  }
}

void list_below(const std::string& root, const std::string& relative, std::vector<std::string>& out) {
  auto names = list_dir(relative.empty() ? root : join(root, relative));
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string below = relative.empty() ? name : join(relative, name);
    struct stat s {};
    if (::lstat(join(root, below).c_str(), &s) != 0) continue;
    if (S_ISDIR(s.st_mode)) {
      out.push_back(below + "/");
      list_below(root, below, out);
    } else {
      out.push_back(below);
    }
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_fd(path, O_RDONLY));
  return read_fd(fd, path);
}

Result<Fd> open_regular_file(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_fd(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat s {};
  if (::fstat(fd.get(), &s) != 0) return last_error("stat", path);
  if (!S_ISREG(s.st_mode)) return make_error("read", path, EINVAL, "it is no regular file");
  return fd;
}

Result<std::string> read_regular_file(const std::string& path) {
  TRY_ASSIGN(const Fd fd, open_regular_file(path));
  return read_fd(fd, path);
}

Result<void> write_all(const Fd& fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd.get(), data.data(), data.size());
    if (n >= 0) data.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR) return last_error("write", path);
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view data, unsigned mode) {
  TRY_ASSIGN(Fd fd, open_fd(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  return write_all(fd, data, path);
}

Result<void> make_dirs(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  if (errno == ENOENT) {
    const std::string parent = parent_of(path);
    if (parent == path) return make_error("create directory", path, ENOENT);
    TRY(make_dirs(parent));
    if (::mkdir(path.c_str(), 0777) == 0) return {};
  }
  const int code = errno;
  struct stat s {};
  if (code == EEXIST && ::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode)) return {};
  return make_error("create directory", path, code);
}

Result<void> remove_tree(const std::string& path) {
  std::error_code code;
  // A tree that somebody still writes to can grow a file between the listing and the rmdir; once more settles it.
  for (int round = 0; round < 3; ++round) {
    std::filesystem::remove_all(path, code);
    if (!code) return {};
  }
  return make_error("remove", path, code.value());
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return last_error("remove", path);
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const std::string data, read_file(from));
  struct stat s {};
  if (::stat(from.c_str(), &s) != 0) return last_error("stat", from);
  return write_file(to, data, s.st_mode & 0777);
}

bool exists(const std::string& path) {
  struct stat s {};
  return ::lstat(path.c_str(), &s) == 0;
}

Result<std::uint64_t> file_size(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return last_error("stat", path);
  return static_cast<std::uint64_t>(s.st_size);
}

Result<std::vector<std::string>> list_dir(const std::string& path) {
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return last_error("list", path);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> list_tree(const std::string& path) {
  std::vector<std::string> out;
  list_below(path, "", out);
  return out;
}

std::string join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || root == "/" || path[root.size()] == '/');
}

std::string own_dir() {
  std::error_code code;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", code);
  return code ? "." : path.parent_path().string();
}

}  // namespace jitrace
