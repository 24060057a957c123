#include "toolchain/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <type_traits>

#include "compile_trial.h"

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
static_assert(sizeof(nvrtcResult) == sizeof(int) && NVRTC_SUCCESS == 0);
static_assert(std::is_same_v<decltype(nvrtcCompileProgram), nvrtcResult(nvrtcProgram, int, const char* const*)>);
static_assert(std::is_same_v<decltype(nvrtcCreateProgram), nvrtcResult(nvrtcProgram*, const char*, const char*, int,
                                                                       const char* const*, const char* const*)>);
static_assert(std::is_same_v<decltype(nvrtcGetCUBINSize), nvrtcResult(nvrtcProgram, size_t*)>);
static_assert(std::is_same_v<decltype(nvrtcGetCUBIN), nvrtcResult(nvrtcProgram, char*)>);
static_assert(std::is_same_v<decltype(nvrtcGetProgramLog), nvrtcResult(nvrtcProgram, char*)>);
#endif

namespace jitrace {
namespace {

class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<Toolchain> toolchain = find_toolchain(ToolchainKind::nvrtc);
    if (!toolchain) GTEST_SKIP() << "no libnvrtc";
    toolchain_ = *toolchain;
    library_.emplace(*Nvrtc::open(toolchain->program));
  }
  Toolchain toolchain_;
  std::optional<Nvrtc> library_;
};

TEST_F(NvrtcTest, CompilesEveryKernelForBothTargetsWithItsStamp) {
  for (const char* name : {"axpy", "softmax", "gemm"}) {
    for (const char* arch : {"sm_90a", "sm_100a"}) {
      const Result<Nvrtc::Compiled> compiled = library_->compile({real_kernel(name).source, name, arch, 0x55, {}});
      ASSERT_TRUE(compiled) << compiled.error().message();
      ASSERT_TRUE(compiled->ok) << compiled->log;
      EXPECT_EQ(view_artifact(compiled->cubin).attempt, 0x55U) << name;
    }
  }
}

TEST_F(NvrtcTest, TwoAttemptsDifferInTheStampAloneAndEqualTheReference) {
  const Kernel kernel = real_kernel("gemm");
  const auto digest = [&](std::uint64_t attempt) {
    return view_artifact(library_->compile({kernel.source, "gemm.cu", "sm_90a", attempt, {}})->cubin).masked_digest;
  };
  EXPECT_EQ(digest(0x1), digest(0x2));
  const TempDir dir = *TempDir::create(::testing::TempDir(), "nvrtc");
  const Result<std::uint64_t> reference =
      reference_digest(toolchain_, kernel, "sm_90a", ArtifactKind::cubin, Steps::one, dir.path());
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_EQ(*reference, digest(0x3));
}

TEST_F(NvrtcTest, CallsBackWhileItCompiles) {
  std::atomic<int> calls = 0;
  const auto compiled = library_->compile({real_kernel("axpy").source, "axpy.cu", "sm_90a", 1, [&calls] { ++calls; }});
  ASSERT_TRUE(compiled && compiled->ok);
  EXPECT_GT(calls, 0);
}

TEST_F(NvrtcTest, AnErrorOfTheSourceIsAnAnswerAndNotAnError) {
  const auto compiled = library_->compile({"#error no\n", "bad.cu", "sm_90a", 1, {}});
  ASSERT_TRUE(compiled);
  EXPECT_FALSE(compiled->ok);
  EXPECT_THAT(compiled->log, ::testing::HasSubstr("#error"));
}

TEST(NvrtcLibrary, AMissingOneIsNamed) {
  const Result<Nvrtc> library = Nvrtc::open("/nonexistent/libnvrtc.so");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message(), ::testing::HasSubstr("/nonexistent/libnvrtc.so"));
}

}  // namespace
}  // namespace jitrace
