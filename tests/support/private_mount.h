#pragma once

#include <string>

#include "base/result.h"

namespace jitrace::test {

// A tmpfs of a given size at a directory, gone with this object. Only root may have one.
class PrivateMount {
 public:
  static Result<PrivateMount> create(const std::string& directory, const std::string& options);
  PrivateMount(PrivateMount&& other) noexcept;
  PrivateMount& operator=(PrivateMount&&) = delete;
  ~PrivateMount();

  // Fails with EBUSY while any process has a file, a directory or a lock there: the kernel's own word for "in use".
  Result<void> unmount();
  Result<void> make_read_only();

 private:
  explicit PrivateMount(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

}  // namespace jitrace::test
