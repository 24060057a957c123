#include <chrono>

#include "unit/scenario/catalogue.h"
#include "unit/scenario/mutate.h"

namespace jitrace {
namespace {

const std::string whole = R"(
[scenario]
name = "whole"
about = "Everything that a file can hold."
[workload]
kernels = ["axpy", "gemm"]
archs = ["sm_90a"]
each_toolchain = ["nvcc", "fake"]
load_apis = ["library", "module"]
workers = [8, 16]
keys = [1, 2]
bound_scale = 0.5
[cache]
clients = 2
rename = "nfs-busy"
[[subject]]
preset = "torch-baton"
[[subject]]
name = "mixed"
workers = [{ preset = "torch-flock", client = 1, action = "clear", count = 2 }]
[[subject]]
command = ["python3", "x.py", "{cache}"]
[[fault]]
name = "none"
[[fault]]
name = "kill"
who = "builder 2"
at = "compile"
what = "SIGKILL"
waiters = 3
order = "orphan-held"
also = [{ who = "worker 1", at = "load", what = "stop", until = "unlock" }]
before = [{ put = "{lock}", content = "x" }, { cut = "{artifact}" }]
[[expect]]
subject = ["torch-baton", "mixed"]
fault = "kill"
always = ["hang"]
builds = { min = 1, max = 8 }
handoff_ms_max = 50
)";

// Either a scenario or at least one error, never both, never neither; and never a crash.
TEST(Mutation, NoTextBringsTheReaderDown) {
  const Catalogue catalogue = small_catalogue();
  ASSERT_THAT(parse_scenario(whole, "w.toml", catalogue).errors, testing::IsEmpty());
  Rng rng(20260101);
  int good = 0;
  const int rounds = 1000;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = mutate(whole, rng);
    const ParsedScenario parsed = parse_scenario(text, "w.toml", catalogue);
    ASSERT_NE(parsed.scenario.has_value(), !parsed.errors.empty()) << text;
    good += parsed.scenario.has_value() ? 1 : 0;
    for (const std::string& error : parsed.errors) ASSERT_EQ(error.compare(0, 6, "w.toml"), 0) << error;
  }
  // Some survive their mutation, most do not: the mutations reach the checks and not the syntax alone.
  EXPECT_GT(good, rounds / 100);
  EXPECT_LT(good, rounds / 2);
}

TEST(Mutation, DepthAndSizeAreRefusedOrRead) {
  const Catalogue catalogue = small_catalogue();
  for (const std::string& text :
       {std::string(100'000, '['), std::string(100'000, '{'), "a = " + std::string(100'000, '['), std::string(1'000'000, 'a'),
        "a = \"" + std::string(1'000'000, 'x') + "\"", std::string(200'000, '\n'), std::string(1000, '\0'),
        minimal + "[[fault]]\nname = \"" + std::string(100'000, 'x') + "\"\nat=\"" + std::string(100'000, 'y') + "\"\nwhat=\"stop\"\n"}) {
    const ParsedScenario parsed = parse_scenario(text, "w.toml", catalogue);
    EXPECT_FALSE(parsed.errors.empty());
  }
}

}  // namespace
}  // namespace jitrace
