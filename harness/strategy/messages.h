#pragma once

#include <string>

#include "base/clock.h"
#include "loader/loader.h"
#include "strategy/preset.h"

namespace jitrace {

// What the mirrored system tells its user. A report is read by people who know these texts from their own logs.
std::string load_failure(Family family, const LoadResult& result, const std::string& path);
std::string build_failure(Family family, const std::string& kernel, const std::string& output);
std::string lock_timeout(Family family, Nanoseconds bound);
std::string corrupted_directory(const std::string& entry);
std::string stale_baton_warning(const std::string& path);
// The exception of std::filesystem::rename when the compiler left nothing to rename.
std::string rename_failure(const std::string& from, const std::string& to, int code);

}  // namespace jitrace
