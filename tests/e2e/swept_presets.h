#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace jitrace::test {

// The presets whose worker builds itself: every one but `daemon`.
inline auto presets_that_build() {
  return testing::Values("torch-baton", "torch-flock", "msa-flock", "gptqmodel-flock", "deepgemm", "deepgemm-flock",
                         "deepgemm-dir", "sound");
}
inline std::string name_of_preset(const testing::TestParamInfo<const char*>& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace jitrace::test
