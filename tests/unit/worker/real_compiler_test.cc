// The presets on the compilers of this machine; a toolchain that is not here is a skip with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <ostream>

#include "process/proc.h"
#include "strategy/layout.h"
#include "unit/worker/worker_bench.h"

namespace jitrace {
namespace {

using testing::Contains;

struct Case {
  ToolchainKind toolchain;
  const char* preset;
};

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c.toolchain) << " " << c.preset; }

class RealCompiler : public testing::TestWithParam<Case> {};

TEST_P(RealCompiler, BuildsAnIntactStampedArtifactAndPassesTheCompilersPoints) {
  const Case& c = GetParam();
  std::optional<Toolchain> toolchain;
  std::string reason = "not looked for";
  for (const ToolchainProbe& probe : find_toolchains({{}, JITRACE_LIBEXEC})) {
    if (probe.kind != c.toolchain || toolchain) continue;
    toolchain = probe.toolchain;
    reason = probe.reason;
  }
  if (!toolchain) GTEST_SKIP() << reason;

  WorkerBench bench;
  const std::string arch = "sm_90a";
  const Result<Kernel> kernel = read_kernel(std::string(JITRACE_SOURCE_DIR) + "/scenarios/kernels", "axpy");
  ASSERT_TRUE(kernel);
  const std::string shadow = bench.directory.path() + "/shadow";
  const Result<std::string> compiler = make_shadow(*toolchain, shadow, JITRACE_LIBEXEC);
  ASSERT_TRUE(compiler) << compiler.error().message();
  const Preset& preset = *find_preset(c.preset);
  const Layout layout = layout_of(preset, bench.spec.cache, "axpy", arch, c.toolchain);
  const Result<std::uint64_t> reference =
      reference_digest(*toolchain, *kernel, arch, layout.kind, layout.steps, bench.directory.path() + "/reference");
  ASSERT_TRUE(reference) << reference.error().message();

  bench.spec.preset = c.preset;
  bench.spec.toolchain = *toolchain;
  bench.spec.compiler = *compiler;
  bench.spec.shadow = shadow;
  bench.spec.loader.kind = layout.kind == ArtifactKind::shared_object ? "dlopen" : "elf";
  bench.spec.loader.device = arch;
  bench.spec.keys = {{"axpy", std::string(JITRACE_SOURCE_DIR) + "/scenarios/kernels/axpy.cu", *reference}};
  Process worker = bench.start();
  bench.release();
  EXPECT_TRUE(ended(worker).is_exit(0));

  const auto fits = [](EventKind kind) { return [kind](const Event& e) { return e.kind == kind; }; };
  const Event loaded = bench.wait_for(fits(EventKind::loaded));
  EXPECT_EQ(loaded.a, 0) << loaded.text;
  EXPECT_EQ(loaded.b & (load_intact | load_right_key | load_right_stamp),
            load_intact | load_right_key | load_right_stamp);
  const Event attempt = bench.wait_for(fits(EventKind::attempt_begin));
  EXPECT_EQ(loaded.attempt, attempt.attempt);
  std::vector<std::string> all;
  for (const Event& event : bench.events()) {
    if (event.kind == EventKind::reached) all.emplace_back(name_of(event.point));
  }
  for (const Point point : preset.points) {
    if (point == Point::rename_gap) continue;
    EXPECT_THAT(all, Contains(std::string(name_of(point))));
  }
  for (const Event& event : bench.events()) {
    // A compile server would stay for its idle time.
    if (event.kind != EventKind::tool_begin || event.a != static_cast<std::int64_t>(ToolRole::daemon)) continue;
    const Result<Fd> server = open_pidfd(static_cast<pid_t>(event.pid));
    ASSERT_TRUE(server);
    EXPECT_TRUE(send_signal(*server, SIGKILL));
  }
}

std::string case_name(const testing::TestParamInfo<Case>& param) {
  std::string name = std::string(name_of(param.param.toolchain)) + "_" + param.param.preset;
  for (char& letter : name) {
    if (letter == '-' || letter == ' ') letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, RealCompiler,
    testing::Values(Case{ToolchainKind::nvcc, "torch-baton"}, Case{ToolchainKind::nvcc, "msa-flock over flock"},
                    Case{ToolchainKind::nvcc, "deepgemm"}, Case{ToolchainKind::nvcc, "deepgemm-dir"},
                    Case{ToolchainKind::nvcc, "sound"}, Case{ToolchainKind::nvrtc, "deepgemm"},
                    Case{ToolchainKind::nvrtc, "deepgemm-flock"}, Case{ToolchainKind::nvrtc, "deepgemm-dir"},
                    Case{ToolchainKind::nvrtc, "sound"}, Case{ToolchainKind::cxx, "gptqmodel-flock"},
                    Case{ToolchainKind::cxx, "deepgemm-flock"}, Case{ToolchainKind::cxx, "sound"},
                    Case{ToolchainKind::nvcc, "daemon"}, Case{ToolchainKind::nvrtc, "daemon"},
                    Case{ToolchainKind::cxx, "daemon"}),
    case_name);

}  // namespace
}  // namespace jitrace
