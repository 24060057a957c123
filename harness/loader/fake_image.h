#pragma once

#include <string>
#include <string_view>

namespace jitrace {

// An artifact of the fake compiler as its loader sees it (the format: toolchain/fake_artifact.h; a test holds both to it).
struct FakeImage {
  enum class Form { empty, cut_header, foreign, object, torn, whole } form = Form::empty;
  std::string arch;
};
FakeImage read_fake_image(std::string_view bytes);

}  // namespace jitrace
