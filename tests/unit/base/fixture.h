#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/temp_dir.h"

namespace jitrace {

inline TempDir scratch() {
  const char* parent = ::getenv("TMPDIR");
  return std::move(TempDir::create(parent != nullptr ? parent : P_tmpdir, "jitrace-test-").value());
}

}  // namespace jitrace
