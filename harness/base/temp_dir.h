#pragma once

#include <string>

#include "base/result.h"

namespace jitrace {

// A fresh directory, removed with everything in it when this goes out of scope.
class TempDir {
 public:
  static Result<TempDir> create(const std::string& parent, const std::string& prefix);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir();

  const std::string& path() const { return path_; }
  std::string keep();  // not removed any more; returns the path

 private:
  explicit TempDir(std::string path);
  std::string path_;
};

}  // namespace jitrace
