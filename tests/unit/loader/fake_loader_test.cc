#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "loader/fake_image.h"
#include "loader/loader.h"
#include "toolchain/artifact.h"
#include "toolchain/fake_artifact.h"

namespace jitrace {
namespace {

const FakeIdentity identity{0xabc, 3, 2, "sm_90a"};

TEST(FakeImage, ReadsWhatTheCompilerWrites) {
  const std::string linked = make_fake_artifact(identity, FakeForm::linked, "source");
  EXPECT_EQ(read_fake_image(linked).form, FakeImage::Form::whole);
  EXPECT_EQ(read_fake_image(linked).arch, "sm_90a");
  EXPECT_EQ(read_fake_image(make_fake_artifact(identity, FakeForm::object, "source")).form, FakeImage::Form::object);
  for (std::size_t size = 0; size < linked.size(); ++size) {
    ASSERT_NE(read_fake_image(std::string_view(linked).substr(0, size)).form, FakeImage::Form::whole) << size;
  }
  std::string flipped = linked;
  flipped[3000] = static_cast<char>(flipped[3000] ^ 1);
  EXPECT_EQ(read_fake_image(flipped).form, FakeImage::Form::torn);
  EXPECT_EQ(read_fake_image("hello").form, FakeImage::Form::foreign);
}

struct Case {
  const char* what;
  std::string bytes;
  LoadCode cubin;
  LoadCode so;
};

TEST(FakeLoader, FailsAsDriverAndDlopenDo) {
  const std::string whole = make_fake_artifact(identity, FakeForm::linked, "source");
  const Case cases[] = {
      {"whole", whole, LoadCode::ok, LoadCode::ok},
      {"empty", "", LoadCode::invalid_image, LoadCode::too_short},
      {"one byte", whole.substr(0, 1), LoadCode::invalid_image, LoadCode::too_short},
      {"cut in half", whole.substr(0, whole.size() / 2), LoadCode::invalid_image, LoadCode::bus_error},
      {"foreign", "#!/bin/sh\n", LoadCode::invalid_image, LoadCode::invalid_elf},
      {"an object", make_fake_artifact(identity, FakeForm::object, "source"), LoadCode::invalid_image, LoadCode::invalid_elf},
      {"of another arch", make_fake_artifact({0xabc, 3, 2, "sm_100a"}, FakeForm::linked, "source"),
       LoadCode::no_binary_for_gpu, LoadCode::no_binary_for_gpu},
  };
  const TempDir dir = *TempDir::create(::testing::TempDir(), "fake");
  auto loader = make_loader({.kind = "fake", .device = "sm_90a", .kernel = {}, .decisions = {}});
  ASSERT_TRUE(loader);
  for (const char* name : {"kernel.cubin", "kernel.so"}) {
    const std::string path = join(dir.path(), name);
    for (const Case& one : cases) {
      ASSERT_TRUE(write_file(path, one.bytes));
      const LoadResult result = (*loader)->load(path);
      EXPECT_EQ(result.code, path.ends_with(".so") ? one.so : one.cubin) << one.what << " as " << name;
      EXPECT_TRUE(result.simulated);
      EXPECT_EQ(result.bytes, one.bytes);
      EXPECT_NE(result.message.find("(fake, simulated)"), std::string::npos) << result.message;
    }
    ASSERT_TRUE(remove_file(path));
  }
  EXPECT_EQ((*loader)->load(join(dir.path(), "kernel.cubin")).code, LoadCode::file_not_found);
  EXPECT_EQ((*loader)->load(join(dir.path(), "kernel.cubin")).message, "301 (fake, simulated)");
  EXPECT_EQ((*loader)->load(join(dir.path(), "kernel.so")).code, LoadCode::cannot_open);
}

}  // namespace
}  // namespace jitrace
