#pragma once

#include <map>
#include <string>

#include "verdict/cell.h"

namespace jitrace {

// What the report says of this machine: kernel, processor, memory, distribution, compilers, driver, GPUs.
std::map<std::string, std::string> describe_machine();

// File system and mount options of the directory, from /proc/self/mountinfo.
CacheInfo describe_cache(const std::string& directory);

}  // namespace jitrace
