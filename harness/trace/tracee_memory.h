#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace jitrace {

// Memory of a stopped process, by process_vm_readv. Borrows the thread id.
class TraceeMemory {
 public:
  explicit TraceeMemory(pid_t thread) : thread_(thread) {}

  Result<void> read(std::uint64_t address, void* to, std::size_t size) const;   // EFAULT if a byte of it is not there
  Result<void> write(std::uint64_t address, const void* from, std::size_t size) const;
  // Up to a NUL, at most PATH_MAX; EFAULT or ENAMETOOLONG as the kernel would say.
  Result<std::string> read_string(std::uint64_t address) const;

 private:
  pid_t thread_;
};

}  // namespace jitrace
