#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitrace {

// XXH3, 64 bits. For recognising torn records and comparing artifacts, not against an adversary.
std::uint64_t checksum64(const void* data, std::size_t bytes);
inline std::uint64_t checksum64(std::string_view data) { return checksum64(data.data(), data.size()); }

}  // namespace jitrace
