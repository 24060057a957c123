#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "strategy/probe.h"

namespace jitrace {

// The file operations of a strategy, each announced once: what they change, and every look at the cache or a lock.
// Paths below the cache's root are announced relative to it. Nothing of a strategy touches the cache but through here,
// so counting `file_op` counts the calls.
class Files {
 public:
  Files(Probe& probe, std::string root) : probe_(probe), root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  Probe& probe() const { return probe_; }
  std::string shown(const std::string& path) const;  // relative to the root where it lies below it

  bool exists(const std::string& path);
  bool is_directory(const std::string& path);
  Result<std::string> read(const std::string& path);
  Result<void> write(const std::string& path, std::string_view data);    // in place: O_TRUNC, then the bytes
  Result<void> write_if_changed(const std::string& path, std::string_view data);
  Result<void> make_dirs(const std::string& path);
  Result<void> rename(const std::string& from, const std::string& to);
  Result<void> unlink(const std::string& path);                           // a missing one is ENOENT
  Result<void> remove_tree(const std::string& path);                      // as far as it goes; first error
  Result<void> sync(const std::string& path);                             // file or directory
  Result<std::vector<std::string>> list(const std::string& path);

  // For locks. `open` adds O_CLOEXEC unless asked otherwise. announce() is for calls made on the descriptor.
  Result<Fd> open(const std::string& path, int flags, unsigned mode, Inherit inherit);
  void announce(std::string_view operation, const std::string& path, int code);
  // Looks without a word: the second and later tries of a polled wait.
  static bool exists_unannounced(const std::string& path);

 private:
  Probe& probe_;
  std::string root_;
};

}  // namespace jitrace
