#include "support/private_mount.h"

#include <sys/mount.h>

#include <utility>

namespace jitrace::test {

Result<PrivateMount> PrivateMount::create(const std::string& directory, const std::string& options) {
  if (::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) != 0) return last_error("mount a tmpfs on", directory);
  return PrivateMount(directory);
}

PrivateMount::PrivateMount(PrivateMount&& other) noexcept : directory_(std::exchange(other.directory_, {})) {}

PrivateMount::~PrivateMount() {
  if (!directory_.empty()) ::umount2(directory_.c_str(), MNT_DETACH);
}

Result<void> PrivateMount::unmount() {
  if (::umount2(directory_.c_str(), 0) != 0) return last_error("unmount", directory_);
  directory_.clear();
  return {};
}

Result<void> PrivateMount::make_read_only() {
  if (::mount(nullptr, directory_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    return last_error("remount read-only", directory_);
  }
  return {};
}

}  // namespace jitrace::test
