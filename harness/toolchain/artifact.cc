#include "toolchain/artifact.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "event/checksum.h"
#include "toolchain/fake_artifact.h"

namespace jitrace {
namespace {

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Blanks every stamp and tells of them: the first attempt, and whether there is another.
void take_stamps(std::string& bytes, ArtifactView& view) {
  bool found = false;
  std::size_t at = 0;
  while ((at = bytes.find(stamp_prefix, at)) != std::string::npos) {
    const std::size_t digits = at + stamp_prefix.size();
    at = digits;
    if (digits + 16 > bytes.size()) break;
    const std::optional<std::uint64_t> attempt = parse_hex(std::string_view(bytes).substr(digits, 16));
    if (!attempt) continue;
    if (!found) view.attempt = *attempt;
    if (found && *attempt != view.attempt) view.mixed = true;
    found = true;
    std::memset(bytes.data() + digits, '0', 16);
  }
}

// nvcc names its intermediates tmpxft_<pid in hex>_<counter in hex>; the names end up in objects. They have a fixed width.
void blank_temporary_names(std::string& bytes) {
  constexpr std::string_view prefix = "tmpxft_";
  std::size_t at = 0;
  while ((at = bytes.find(prefix, at)) != std::string::npos) {
    at += prefix.size();
    for (; at < bytes.size() && (is_hex_digit(bytes[at]) || bytes[at] == '_' || bytes[at] == '-'); ++at) bytes[at] = '0';
  }
}

void take_fake(std::string& bytes, ArtifactView& view) {
  const FakeHeader header = fake_header_of(bytes);
  view.fake = true;
  view.whole = is_whole_fake_artifact(bytes);
  view.attempt = header.attempt;
  view.key = header.key;
  view.arch.assign(header.arch, ::strnlen(header.arch, sizeof header.arch));
  const auto blank = [&bytes](std::size_t from, std::size_t count) {
    if (from < bytes.size()) std::memset(bytes.data() + from, 0, std::min(count, bytes.size() - from));
  };
  blank(offsetof(FakeHeader, checksum), sizeof header.checksum);
  blank(offsetof(FakeHeader, attempt), sizeof header.attempt);
  blank(offsetof(FakeHeader, key), sizeof header.key);
  blank(offsetof(FakeHeader, builder), sizeof header.builder);
}

}  // namespace

ArtifactView view_artifact(std::string_view bytes) {
  ArtifactView view;
  std::string masked(bytes);
  if (is_fake_artifact(bytes)) take_fake(masked, view);
  take_stamps(masked, view);
  blank_temporary_names(masked);
  view.masked_digest = checksum64(masked);
  return view;
}

}  // namespace jitrace
