#include "event/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace jitrace {

std::uint64_t checksum64(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

}  // namespace jitrace
