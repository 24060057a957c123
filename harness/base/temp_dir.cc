#include "base/temp_dir.h"

#include <cstdlib>
#include <utility>

#include "base/file.h"

namespace jitrace {

TempDir::TempDir(std::string path) : path_(std::move(path)) {}
TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir::~TempDir() {
  // Nobody is left to hear of a failure; what remains carries our prefix.
  if (!path_.empty()) (void)remove_tree(path_);
}

Result<TempDir> TempDir::create(const std::string& parent, const std::string& prefix) {
  std::string path = join(parent, prefix) + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return last_error("create directory", path);
  return TempDir(path);
}

std::string TempDir::keep() { return std::exchange(path_, {}); }

}  // namespace jitrace
