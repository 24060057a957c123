#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitrace {

// What the fake compiler writes: this header, then the body, which follows from source and arch alone. Builder, attempt,
// key and checksum differ from build to build and are blanked for the masked digest.
struct FakeHeader {
  char magic[8];              // "JTRFAKE1"
  std::uint64_t length;       // of the whole file
  std::uint64_t checksum;     // of the whole file with this field 0
  std::uint64_t attempt;
  std::uint16_t key;
  std::uint16_t builder;      // slot of the worker, 0xffff where unknown
  std::uint32_t linked;       // 1: an artifact that loads; 0: an object that still has to be linked
  char arch[16];
  char stamp[24];             // JITRACE: and 16 hex digits
};
static_assert(sizeof(FakeHeader) == 80);

inline constexpr std::string_view fake_magic = "JTRFAKE1";
inline constexpr std::string_view stamp_prefix = "JITRACE:";
inline constexpr std::size_t stamp_bytes = 24;

struct FakeIdentity {
  std::uint64_t attempt = 0;
  std::uint16_t key = 0;
  std::uint16_t builder = 0xffff;
  std::string_view arch;
};
enum class FakeForm { object, linked };

std::string make_fake_artifact(const FakeIdentity& identity, FakeForm form, std::string_view source);
// The object as a linked artifact, its identity kept; empty if it is not a whole fake object.
std::string link_fake_artifact(std::string_view object);

// Whether these bytes begin as a fake artifact and, if so, whether length and checksum hold.
bool is_fake_artifact(std::string_view bytes);
bool is_whole_fake_artifact(std::string_view bytes);
FakeHeader fake_header_of(std::string_view bytes);  // zero-filled where the file is shorter

}  // namespace jitrace
