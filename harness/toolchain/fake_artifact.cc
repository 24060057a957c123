#include "toolchain/fake_artifact.h"

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "base/text.h"
#include "event/checksum.h"

namespace jitrace {
namespace {

constexpr std::size_t body_bytes = 6144;

void seal(std::string& bytes) {
  FakeHeader header = fake_header_of(bytes);
  header.length = bytes.size();
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = checksum64(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace

std::string make_fake_artifact(const FakeIdentity& identity, FakeForm form, std::string_view source) {
  FakeHeader header{};
  std::memcpy(header.magic, fake_magic.data(), sizeof header.magic);
  header.attempt = identity.attempt;
  header.key = identity.key;
  header.builder = identity.builder;
  header.linked = form == FakeForm::linked ? 1 : 0;
  std::memcpy(header.arch, identity.arch.data(), std::min(identity.arch.size(), sizeof header.arch - 1));
  const std::string stamp = std::string(stamp_prefix) + hex(identity.attempt);
  std::memcpy(header.stamp, stamp.data(), sizeof header.stamp);

  std::string bytes(sizeof header + body_bytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  Rng rng(checksum64(source) ^ checksum64(identity.arch));
  for (std::size_t at = sizeof header; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = rng.next();
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  seal(bytes);
  return bytes;
}

std::string link_fake_artifact(std::string_view object) {
  if (!is_whole_fake_artifact(object) || fake_header_of(object).linked != 0) return {};
  std::string bytes(object);
  FakeHeader header = fake_header_of(bytes);
  header.linked = 1;
  std::memcpy(bytes.data(), &header, sizeof header);
  seal(bytes);
  return bytes;
}

bool is_fake_artifact(std::string_view bytes) { return bytes.substr(0, fake_magic.size()) == fake_magic; }

bool is_whole_fake_artifact(std::string_view bytes) {
  if (!is_fake_artifact(bytes) || bytes.size() < sizeof(FakeHeader)) return false;
  const FakeHeader header = fake_header_of(bytes);
  if (header.length != bytes.size()) return false;
  std::string copy(bytes);
  std::memset(copy.data() + offsetof(FakeHeader, checksum), 0, sizeof header.checksum);
  return checksum64(copy) == header.checksum;
}

FakeHeader fake_header_of(std::string_view bytes) {
  FakeHeader header{};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  return header;
}

}  // namespace jitrace
