#include "loader/fake_image.h"

#include <cstdint>
#include <cstring>

#include "event/checksum.h"

namespace jitrace {
namespace {

constexpr std::string_view magic = "JTRFAKE1";
constexpr std::size_t header_bytes = 80;
constexpr std::size_t length_at = 8;
constexpr std::size_t checksum_at = 16;
constexpr std::size_t linked_at = 36;
constexpr std::size_t arch_at = 40;
constexpr std::size_t arch_bytes = 16;

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

FakeImage read_fake_image(std::string_view bytes) {
  if (bytes.empty()) return {FakeImage::Form::empty, {}};
  if (bytes.substr(0, magic.size()) != magic.substr(0, bytes.size())) return {FakeImage::Form::foreign, {}};
  if (bytes.size() < header_bytes) return {FakeImage::Form::cut_header, {}};
  const std::string_view arch = bytes.substr(arch_at, arch_bytes);
  FakeImage image{FakeImage::Form::whole, std::string(arch.substr(0, arch.find('\0')))};
  std::string sealed(bytes);
  std::memset(sealed.data() + checksum_at, 0, sizeof(std::uint64_t));
  if (number_at<std::uint64_t>(bytes, length_at) != bytes.size() ||
      number_at<std::uint64_t>(bytes, checksum_at) != checksum64(sealed)) {
    image.form = FakeImage::Form::torn;
  } else if (number_at<std::uint32_t>(bytes, linked_at) == 0) {
    image.form = FakeImage::Form::object;
  }
  return image;
}

}  // namespace jitrace
