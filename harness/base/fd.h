#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace jitrace {

// Owns one descriptor. Move-only, explicit; what it opens is close-on-exec unless `Inherit::yes` is asked for.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int descriptor) : descriptor_(descriptor) {}
  Fd(Fd&& other) noexcept : descriptor_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }  // borrowed: for the length of one call
  int release() { return std::exchange(descriptor_, -1); }
  void close();

 private:
  int descriptor_ = -1;
};

enum class Inherit { no, yes };

// open(2) with O_CLOEXEC added, retried on EINTR.
Result<Fd> open_fd(const std::string& path, int flags, unsigned mode = 0644, Inherit inherit = Inherit::no);

}  // namespace jitrace
