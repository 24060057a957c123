#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strategy/preset.h"
#include "toolchain/toolchain.h"

namespace jitrace {

// Where the files of one key lie, all absolute. The driver uses it for the {entry}, {artifact} and {lock} of scenarios,
// for snapshots and wipes.
struct Layout {
  std::string base;                // what `clear` removes: the entry, or the directory over it (GPTQModel's base root)
  std::string entry;               // the key's directory
  std::string source;
  std::string object;              // torch only: the compile edge's output
  std::string artifact;            // what is loaded
  std::string manifest;            // sound and daemon only
  std::vector<std::string> locks;  // outermost first; a daemon's is its lock for life
  std::string temporary;           // directory of private files; empty for those who build in place
  ArtifactKind kind = ArtifactKind::fake;
  Steps steps = Steps::one;        // how the artifact is made: at once, or an object and a link
};

Layout layout_of(const Preset& preset, const std::string& root, std::string_view kernel, std::string_view arch,
                 ToolchainKind toolchain);

}  // namespace jitrace
