#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace jitrace {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

void Fd::close() {
  // Linux releases the descriptor whatever close answers, so there is nothing to retry.
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Result<Fd> open_fd(const std::string& path, int flags, unsigned mode, Inherit inherit) {
  if (inherit == Inherit::no) flags |= O_CLOEXEC;
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags, mode);
    if (descriptor >= 0) return Fd(descriptor);
    if (errno != EINTR) return last_error("open", path);
  }
}

}  // namespace jitrace
