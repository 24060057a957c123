#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitrace {

// What the bytes of an artifact say of themselves.
struct ArtifactView {
  std::uint64_t attempt = 0;        // the stamp: JITRACE: and 16 hex digits. 0: none found. Of several different: the first
  bool mixed = false;               // holds stamps of two attempts
  std::uint64_t masked_digest = 0;  // of all bytes, with stamps and nvcc's tmpxft_<pid> names blanked
  // The fake compiler's artifacts carry more: who, for what, and a checksum that tells torn from whole.
  bool fake = false;
  bool whole = true;                // fake only: length and checksum hold
  std::uint16_t key = 0;            // fake only
  std::string arch;                 // fake only
};

ArtifactView view_artifact(std::string_view bytes);

}  // namespace jitrace
