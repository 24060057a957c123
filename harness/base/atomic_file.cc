#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"

namespace jitrace {

AtomicFile::AtomicFile(std::string path, std::string temporary, Fd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})), fd_(std::move(other.fd_)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  const std::string temporary = path + ".tmp." + hex(random_bits());
  TRY_ASSIGN(Fd fd, open_fd(temporary, O_WRONLY | O_CREAT | O_EXCL));
  return AtomicFile(path, temporary, std::move(fd));
}

Result<void> AtomicFile::write(std::string_view data) { return write_all(fd_, data, temporary_); }

Result<void> AtomicFile::commit() {
  fd_.close();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return last_error("rename onto", path_);
  temporary_.clear();
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view data) {
  TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  TRY(file.write(data));
  return file.commit();
}

}  // namespace jitrace
