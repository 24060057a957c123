#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "event/point.h"

namespace jitrace {

// The names that a scenario may use, handed in by the command line: scenarios lie below strategies, toolchains' programs
// and verdicts, and know them by name only.
struct CataloguePreset {
  std::string name;
  std::string run;            // exec, popen, ninja, library: which tools there are to kill, and what can compile for it
  bool locks = false;         // it waits for somebody, so there can be a waiter
  bool daemon = false;        // there is a compile server to kill
  std::vector<Point> points;  // those it passes, in order; a fault at another is not applicable
};

struct Catalogue {
  std::vector<CataloguePreset> presets;
  std::vector<std::string> toolchains{"nvcc", "nvrtc", "cxx", "fake"};
  std::vector<std::string> loaders{"auto", "cuda", "elf", "dlopen", "fake"};
  std::vector<std::string> sweep_columns{"tree", "builder_orphan_first", "builder_orphan_held", "tree_waiter",
                                         "builder_orphan_first_waiter", "builder_orphan_held_waiter"};
  std::vector<std::string> sweep_ends{"recovered", "hang", "failed", "torn"};  // those that can be promised
  std::vector<std::string> finding_classes;
  std::vector<std::string> kernels;  // empty: not checked here

  const CataloguePreset* find(std::string_view name) const {
    for (const auto& preset : presets) {
      if (preset.name == name) return &preset;
    }
    return nullptr;
  }
};

}  // namespace jitrace
