#include "trace/tracee_memory.h"

#include <linux/limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace jitrace {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

Result<void> TraceeMemory::read(std::uint64_t address, void* to, std::size_t size) const {
  auto* out = static_cast<char*>(to);
  while (size > 0) {
    const iovec here{out, size};
    const iovec there{reinterpret_cast<void*>(address), size};
    const ssize_t n = ::process_vm_readv(thread_, &here, 1, &there, 1, 0);
    if (n < 0) return last_error("read memory of process", std::to_string(thread_));
    if (n == 0) return make_error("read memory of process", std::to_string(thread_), EFAULT);
    out += n;
    address += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Result<void> TraceeMemory::write(std::uint64_t address, const void* from, std::size_t size) const {
  // The kernel only reads from here; the type of iovec cannot say so.
  auto* in = static_cast<char*>(const_cast<void*>(from));
  while (size > 0) {
    const iovec here{in, size};
    const iovec there{reinterpret_cast<void*>(address), size};
    const ssize_t n = ::process_vm_writev(thread_, &here, 1, &there, 1, 0);
    if (n < 0) return last_error("write memory of process", std::to_string(thread_));
    if (n == 0) return make_error("write memory of process", std::to_string(thread_), EFAULT);
    in += n;
    address += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::string> TraceeMemory::read_string(std::uint64_t address) const {
  std::string text;
  char buffer[page];
  // Up to the end of a page at a time: the next one may not be there, and need not be.
  while (text.size() < PATH_MAX) {
    const std::size_t to_page_end = page - address % page;
    const std::size_t size = std::min(to_page_end, PATH_MAX - text.size());
    TRY(read(address, buffer, size));
    const std::size_t length = ::strnlen(buffer, size);
    text.append(buffer, length);
    if (length < size) return text;
    address += size;
  }
  return make_error("read a path of process", std::to_string(thread_), ENAMETOOLONG);
}

}  // namespace jitrace
