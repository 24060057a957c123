#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strategy/files.h"
#include "strategy/layout.h"
#include "strategy/preset.h"

namespace jitrace {

// What a look at an entry finds.
enum class Look {
  hit,
  miss,
  incomplete,  // its directory is there and a file is not, for those who make an error of it
  bad,         // a manifest that its files do not match
};

struct Looked {
  Look look = Look::miss;
  std::string bytes;           // digest only: the artifact as it was verified
  std::uint64_t attempt = 0;   // digest only: who published it, by the manifest
};
Looked look_at(const Preset& preset, const Layout& layout, std::string_view kernel, std::string_view arch,
               Files& files);

// The manifest of a private directory that holds source and artifact: size and digest of each, key, arch, attempt.
struct ManifestSubject {
  std::string source, artifact;  // contents
  std::string source_name, artifact_name;
  std::string_view kernel, arch;
  std::uint64_t attempt = 0;
};
std::string manifest_text(const ManifestSubject& subject);

}  // namespace jitrace
