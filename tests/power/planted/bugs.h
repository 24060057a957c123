#pragma once

#include <string_view>
#include <vector>

#include "strategy/preset.h"

namespace jitrace::power {

// What a worker does once it is through with its keys.
enum class Leaves { nothing, a_process, a_temporary_file };

// One thing changed in a row of the preset table. The plan goes on calling the subject by the row's name, so it is held
// to the row's promises: an implementation that has broken while what it promises has not.
struct Bug {
  std::string_view name;
  std::string_view base;  // the row; workers of other presets are left as they are
  std::string_view about;
  void (*change)(Preset& preset) = nullptr;  // none: the row is as it was, the program is not
  Leaves leaves = Leaves::nothing;
};

const std::vector<Bug>& bugs();
const Bug* find_bug(std::string_view name);

}  // namespace jitrace::power
