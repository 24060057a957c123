#include "event/checksum.h"

#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace jitrace {

std::uint64_t checksum64(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

Result<FileChecksum> checksum_of_file(const std::string& path) {
  constexpr std::size_t piece = 1 << 20;
  TRY_ASSIGN(const Fd fd, open_regular_file(path));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(piece);
  FileChecksum result;
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error("read", path);
    if (n == 0) break;
    XXH3_64bits_update(state.get(), buffer.data(), static_cast<std::size_t>(n));
    result.bytes += static_cast<std::uint64_t>(n);
  }
  result.checksum = XXH3_64bits_digest(state.get());
  return result;
}

}  // namespace jitrace
