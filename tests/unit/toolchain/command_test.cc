#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "compile_trial.h"

namespace jitrace {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Toolchains, NamesReadBack) {
  for (const ToolchainKind kind : {ToolchainKind::nvcc, ToolchainKind::nvrtc, ToolchainKind::cxx, ToolchainKind::fake}) {
    EXPECT_EQ(parse_toolchain_kind(name_of(kind)), kind);
  }
  EXPECT_FALSE(parse_toolchain_kind("nvc"));
}

TEST(Toolchains, EachIsUsableOrSaysWhyNot) {
  const std::vector<ToolchainProbe> probes = find_toolchains({{}, JITRACE_LIBEXEC});
  ASSERT_EQ(probes.size(), 4U);
  EXPECT_EQ(probes.back().kind, ToolchainKind::fake);
  EXPECT_TRUE(probes.back().toolchain);
  for (const ToolchainProbe& probe : probes) {
    EXPECT_EQ(probe.toolchain.has_value(), probe.reason.empty()) << name_of(probe.kind) << ": " << probe.reason;
    if (probe.toolchain) {
      EXPECT_THAT(probe.toolchain->version, ::testing::MatchesRegex("[0-9]+\\.[0-9.]+")) << name_of(probe.kind);
    }
  }
}

TEST(Toolchains, EveryNvccThatIsAskedForIsAnswered) {
  const std::vector<ToolchainProbe> probes = find_toolchains({{"/nonexistent/nvcc", "/bin/true"}, JITRACE_LIBEXEC});
  ASSERT_EQ(probes.size(), 5U);
  EXPECT_FALSE(probes[0].toolchain);
  EXPECT_THAT(probes[0].reason, HasSubstr("/nonexistent/nvcc"));
  EXPECT_FALSE(probes[1].toolchain);
  EXPECT_THAT(probes[1].reason, HasSubstr("does not answer as nvcc does"));
  EXPECT_THAT(find_toolchains({{}, "/nonexistent"}).back().reason, HasSubstr("fake_compiler is missing"));
}

TEST(Toolchains, AnNvccThatIsAScriptIsTheOneThatItStarts) {
  const std::optional<Toolchain> nvcc = find_toolchain(ToolchainKind::nvcc);
  if (!nvcc) GTEST_SKIP() << "no nvcc";
  const TempDir dir = *TempDir::create(::testing::TempDir(), "script");
  const std::string script = join(dir.path(), "nvcc");
  ASSERT_TRUE(write_file(script, "#!/bin/sh\nexec " + nvcc->program + " \"$@\"\n", 0755));
  const std::vector<ToolchainProbe> probes = find_toolchains({{script}, JITRACE_LIBEXEC});
  ASSERT_TRUE(probes.front().toolchain) << probes.front().reason;
  EXPECT_EQ(probes.front().toolchain->program, nvcc->program);
}

TEST(Toolchains, CommandLinesAreTheSameForEveryAttempt) {
  const TempDir dir = *TempDir::create(::testing::TempDir(), "attempt");
  for (const ToolchainKind kind : {ToolchainKind::nvcc, ToolchainKind::cxx, ToolchainKind::fake}) {
    const Toolchain toolchain{kind, std::string(name_of(kind)), "/opt/bin/compiler", "1"};
    const auto environment = attempt_environment(toolchain, {0xabcdef, 3, dir.path()}, "/shadow");
    ASSERT_TRUE(environment);
    EXPECT_THAT(*environment, Contains("JITRACE_ATTEMPT=" + hex(0xabcdef)));
    EXPECT_THAT(*environment, Contains("JITRACE_KEY=3"));
    EXPECT_THAT(*environment, Contains("TMPDIR=" + dir.path()));
    const bool real = kind != ToolchainKind::fake;
    EXPECT_EQ(::testing::Value(*environment, Contains("COMPILER_PATH=/shadow/passes")), real);
    for (const auto& argv :
         {compile_command(toolchain, "cc", "sm_90a", "a.cu", "a.out", ArtifactKind::cubin),
          object_command(toolchain, "cc", "sm_90a", "a.cu", "a.o"), link_command(toolchain, "cc", "a.o", "a.so")}) {
      ASSERT_FALSE(argv.empty());
      EXPECT_THAT(join_text(argv, " "), Not(HasSubstr("abcdef")));
    }
  }
}

TEST(Kernels, AtLeastFourAndEachNamesItsKernel) {
  for (const char* name : {"axpy", "softmax", "gemm", "gemm_tuned"}) {
    const Kernel kernel = real_kernel(name);
    EXPECT_THAT(kernel.source, HasSubstr("__global__ void " + std::string(name) + "(float* out, float* expected)"));
    EXPECT_THAT(kernel.source, Not(HasSubstr("#include"))) << "nvrtc finds no headers";
  }
  EXPECT_FALSE(read_kernel(JITRACE_SOURCE_DIR "/scenarios/kernels", "none"));
}

}  // namespace
}  // namespace jitrace
