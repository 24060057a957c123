#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jitrace {

// XXH3, 64 bits. For recognising torn records and comparing artifacts, not against an adversary.
std::uint64_t checksum64(const void* data, std::size_t bytes);
inline std::uint64_t checksum64(std::string_view data) { return checksum64(data.data(), data.size()); }

// The same of a regular file, however large: it is read piece by piece.
struct FileChecksum {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};
Result<FileChecksum> checksum_of_file(const std::string& path);

}  // namespace jitrace
