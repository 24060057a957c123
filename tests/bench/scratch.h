#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/temp_dir.h"

namespace jitrace {

inline TempDir scratch() {
  const char* parent = ::getenv("TMPDIR");
  return std::move(TempDir::create(parent != nullptr ? parent : P_tmpdir, "jitrace-bench-").value());
}

}  // namespace jitrace
