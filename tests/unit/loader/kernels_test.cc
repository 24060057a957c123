// The kernels of scenarios/kernels, made by the real compilers and loaded by every loader that needs no GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "loader/elf_image.h"
#include "loader/loader.h"
#include "process/process.h"
#include "toolchain/artifact.h"
#include "toolchain/toolchain.h"

namespace jitrace {
namespace {

class Kernels : public ::testing::TestWithParam<const char*> {
 protected:
  std::optional<Toolchain> find(ToolchainKind kind) {
    for (const ToolchainProbe& probe : find_toolchains({{}, JITRACE_LIBEXEC})) {
      if (probe.kind == kind && probe.toolchain) return probe.toolchain;
    }
    return std::nullopt;
  }
  void run(const Toolchain& toolchain, std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    const auto changes = attempt_environment(toolchain, {0xfeed, 0, dir_.path()}, "");
    ASSERT_TRUE(changes);
    command.environment = environment_with(*changes);
    const Result<Finished> finished = run_to_end(command);
    ASSERT_TRUE(finished) << finished.error().message();
    ASSERT_TRUE(finished->status.is_exit(0)) << finished->output;
    EXPECT_EQ(finished->output, "") << "a kernel compiles without a warning";
  }
  static LoadResult load(const std::string& path, const std::string& kind, const std::string& device, LoadApi api) {
    auto loader = make_loader({.kind = kind, .device = device, .kernel = GetParam(), .api = api, .decisions = {}});
    EXPECT_TRUE(loader);
    return (*loader)->load(path);
  }
  std::string at(const std::string& name) const { return join(dir_.path(), name); }
  const std::string source_ = std::string(JITRACE_SOURCE_DIR "/scenarios/kernels/") + GetParam() + ".cu";
  TempDir dir_ = *TempDir::create(::testing::TempDir(), "kernels");
};

TEST_P(Kernels, CubinHoldsOneKernelOfItsArchAndItsStamp) {
  const std::optional<Toolchain> nvcc = find(ToolchainKind::nvcc);
  if (!nvcc) GTEST_SKIP() << "no nvcc";
  for (const auto& [arch, other] : {std::pair{"sm_90a", "sm_100a"}, std::pair{"sm_100a", "sm_90a"}}) {
    const std::string cubin = at(std::string(arch) + ".cubin");
    run(*nvcc, compile_command(*nvcc, nvcc->program, arch, source_, cubin, ArtifactKind::cubin));
    const Result<std::string> bytes = read_file(cubin);
    ASSERT_TRUE(bytes);
    const ElfImage image = read_elf_image(*bytes);
    EXPECT_THAT(image.kernels, ::testing::ElementsAre(GetParam()));
    EXPECT_EQ(image.arch, arch);
    EXPECT_EQ(view_artifact(*bytes).attempt, 0xfeedU);
    for (const LoadApi api : {LoadApi::symbols_then_module, LoadApi::library}) {
      EXPECT_EQ(load(cubin, "elf", arch, api).code, LoadCode::ok) << load(cubin, "elf", arch, api).message;
      EXPECT_EQ(load(cubin, "elf", other, api).code, LoadCode::no_binary_for_gpu);
    }
    // A cut cubin is nobody's `whole`.
    for (const std::size_t size : {bytes->size() - 1, bytes->size() - 150, bytes->size() / 2, std::size_t{40}}) {
      EXPECT_NE(read_elf_image(std::string_view(*bytes).substr(0, size)).form, Input::whole) << size;
    }
  }
}

TEST_P(Kernels, HostSharedObjectChecksItsNumbers) {
  const std::optional<Toolchain> cxx = find(ToolchainKind::cxx);
  if (!cxx) GTEST_SKIP() << "no g++";
  const std::string library = at("host.so");
  run(*cxx, compile_command(*cxx, cxx->program, "host", source_, library, ArtifactKind::shared_object));
  const LoadResult result = load(library, "dlopen", "", LoadApi::library);
  EXPECT_EQ(result.code, LoadCode::ok) << result.message;
  EXPECT_EQ(view_artifact(result.bytes).attempt, 0xfeedU);
  EXPECT_FALSE(view_artifact(result.bytes).mixed);
}

class QuickKernels : public Kernels {};

TEST_P(QuickKernels, CudaSharedObjectLoads) {
  const std::optional<Toolchain> nvcc = find(ToolchainKind::nvcc);
  if (!nvcc) GTEST_SKIP() << "no nvcc";
  const std::string library = at("device.so");
  run(*nvcc, object_command(*nvcc, nvcc->program, "sm_90a", source_, at("device.o")));
  run(*nvcc, link_command(*nvcc, nvcc->program, at("device.o"), library));
  const LoadResult result = load(library, "dlopen", "", LoadApi::library);
  EXPECT_EQ(result.code, LoadCode::ok) << result.message;
  EXPECT_EQ(view_artifact(result.bytes).attempt, 0xfeedU);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, ::testing::Values("axpy", "softmax", "gemm", "gemm_tuned"),
                         [](const auto& instance) { return std::string(instance.param); });

INSTANTIATE_TEST_SUITE_P(All, QuickKernels, ::testing::Values("axpy", "softmax", "gemm"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace jitrace
