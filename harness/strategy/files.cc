#include "strategy/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace jitrace {

std::string Files::shown(const std::string& path) const {
  if (path.size() > root_.size() + 1 && path.compare(0, root_.size(), root_) == 0 && path[root_.size()] == '/') {
    return path.substr(root_.size() + 1);
  }
  return path == root_ ? "." : path;
}

void Files::announce(std::string_view operation, const std::string& path, int code) {
  probe_.file_op(operation, shown(path), {}, code);
}

bool Files::exists_unannounced(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0;
}

bool Files::exists(const std::string& path) {
  struct stat s {};
  const int code = ::stat(path.c_str(), &s) == 0 ? 0 : errno;
  announce("stat", path, code);
  return code == 0;
}

bool Files::is_directory(const std::string& path) {
  struct stat s {};
  const int code = ::stat(path.c_str(), &s) == 0 ? 0 : errno;
  announce("stat", path, code);
  return code == 0 && S_ISDIR(s.st_mode);
}

Result<std::string> Files::read(const std::string& path) {
  Result<std::string> text = read_file(path);
  announce("read", path, text ? 0 : text.error().code);
  return text;
}

Result<void> Files::write(const std::string& path, std::string_view data) {
  Result<void> done = write_file(path, data);
  announce("write", path, done ? 0 : done.error().code);
  return done;
}

Result<void> Files::write_if_changed(const std::string& path, std::string_view data) {
  const Result<std::string> old = read(path);
  if (old && *old == data) return {};
  return write(path, data);
}

Result<void> Files::make_dirs(const std::string& path) {
  Result<void> done = jitrace::make_dirs(path);
  announce("mkdir", path, done ? 0 : done.error().code);
  return done;
}

Result<void> Files::rename(const std::string& from, const std::string& to) {
  const int code = ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  probe_.file_op("rename", shown(from), shown(to), code);
  if (code != 0) return make_error("rename onto", to, code);
  return {};
}

Result<void> Files::unlink(const std::string& path) {
  const int code = ::unlink(path.c_str()) == 0 ? 0 : errno;
  announce("unlink", path, code);
  if (code != 0) return make_error("remove", path, code);
  return {};
}

Result<void> Files::remove_tree(const std::string& path) {
  Result<void> done = jitrace::remove_tree(path);
  announce("rmtree", path, done ? 0 : done.error().code);
  return done;
}

Result<void> Files::sync(const std::string& path) {
  Result<Fd> fd = open_fd(path, O_RDONLY);
  int code = fd ? 0 : fd.error().code;
  if (fd && ::fsync(fd->get()) != 0) code = errno;
  announce("fsync", path, code);
  if (code != 0) return make_error("sync", path, code);
  return {};
}

Result<std::vector<std::string>> Files::list(const std::string& path) {
  Result<std::vector<std::string>> names = list_dir(path);
  announce("list", path, names ? 0 : names.error().code);
  return names;
}

Result<Fd> Files::open(const std::string& path, int flags, unsigned mode, Inherit inherit) {
  Result<Fd> fd = open_fd(path, flags, mode, inherit);
  announce((flags & O_CREAT) != 0 ? "create" : "open", path, fd ? 0 : fd.error().code);
  return fd;
}

}  // namespace jitrace
