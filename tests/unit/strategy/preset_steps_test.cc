// Each preset against its step list in subjects.md: the points it passes and the file operations between them, for a
// cold build in an empty cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/strategy/recorder.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

Lines cold_build(std::string_view name) {
  Bench bench;
  Recorder recorder;
  Engine engine(*find_preset(name), bench.job, recorder);
  const GetEnd end = engine.get(0);
  EXPECT_EQ(end.outcome, Outcome::built) << end.message;
  return recorder.take();
}

const Lines ninja_build = {"@write_source k0/k0.cu", "op read k0/k0.cu !2", "op write k0/k0.cu",
                           "op read k0/build.ninja !2", "op write k0/build.ninja", "@spawn k0/k0.so", "+attempt",
                           "tool build_tool", "wait child", "over 0", "-attempt 0"};

Lines with(std::initializer_list<Lines> parts) {
  Lines all;
  for (const Lines& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(PresetSteps, TorchBaton) {
  EXPECT_THAT(cold_build("torch-baton"),
              ElementsAreArray(with({{"@make_dir k0", "op mkdir k0", "@lock_wait k0/lock", "op create k0/lock",
                                      "@lock_held k0/lock"},
                                     ninja_build,
                                     {"@unlock k0/lock", "op unlink k0/lock", "@load k0/k0.so", "op load k0/k0.so",
                                      "loaded 0"}})));
}

// As torch 2.14.1 was recorded: the file stays, and the load comes after the release.
TEST(PresetSteps, TorchFlock) {
  EXPECT_THAT(cold_build("torch-flock"),
              ElementsAreArray(with({{"@make_dir k0", "op mkdir k0", "@lock_wait k0/lock", "op create k0/lock",
                                      "op flock k0/lock", "@lock_held k0/lock"},
                                     ninja_build,
                                     {"@unlock k0/lock", "op unlock k0/lock", "@load k0/k0.so", "op load k0/k0.so",
                                      "loaded 0"}})));
}

// Its waiter, too: open, flock without blocking, close, 50 ms, and so on without a bound.
TEST(PresetSteps, TorchFlockOpensTheFileAtEachTry) {
  const LockChoice& lock = find_preset("torch-flock")->locks.front();
  EXPECT_EQ(lock.poll, milliseconds(50));
  EXPECT_TRUE(lock.reopens);
  EXPECT_EQ(lock.bound, 0);
  EXPECT_EQ(lock.inherit, InheritLock::no);
}

TEST(PresetSteps, MsaFlockOverBatonLoadsInsideTheOuterLock) {
  EXPECT_THAT(
      cold_build("msa-flock"),
      ElementsAreArray(with(
          {{"@make_dir k0", "op mkdir k0", "@lock_wait k0/build.lock", "op create k0/build.lock",
            "wait flock k0/build.lock", "over 0", "op flock k0/build.lock", "@lock_held k0/build.lock",
            "op stat k0/lock !2",  // is there a leftover baton?
            "op stat k0", "@lock_wait k0/lock", "op create k0/lock", "@lock_held k0/lock"},
           ninja_build,
           {"@unlock k0/lock", "op unlink k0/lock", "@load k0/k0.so", "op load k0/k0.so", "loaded 0",
            "@unlock k0/build.lock", "op unlock k0/build.lock"}})));
}

TEST(PresetSteps, MsaFlockOverFlockNeverLooksForABaton) {
  EXPECT_THAT(cold_build("msa-flock over flock"),
              ElementsAreArray(with(
                  {{"@make_dir k0", "op mkdir k0", "@lock_wait k0/build.lock", "op create k0/build.lock",
                    "wait flock k0/build.lock", "over 0", "op flock k0/build.lock", "@lock_held k0/build.lock",
                    "op stat k0", "@lock_wait k0/lock", "op create k0/lock", "op flock k0/lock",
                    "@lock_held k0/lock"},
                   ninja_build,
                   {"@unlock k0/lock", "op unlock k0/lock", "@load k0/k0.so", "op load k0/k0.so", "loaded 0",
                    "@unlock k0/build.lock", "op unlock k0/build.lock"}})));
}

TEST(PresetSteps, GptqmodelFlockLocksBesideTheBaseAndLoadsTwice) {
  Lines inner = ninja_build;
  for (std::string& line : inner) {
    for (std::size_t at = 0; (at = line.find("k0/", at)) != std::string::npos; at += 3) line.replace(at, 3, "k0/F/");
  }
  Lines lines = cold_build("gptqmodel-flock");
  for (std::string& line : lines) {
    const std::size_t at = line.find("k0/");
    if (at != std::string::npos && line.size() >= at + 19) line.replace(at + 3, 16, "F");
  }
  EXPECT_THAT(
      lines,
      ElementsAreArray(
          with({{"op mkdir .", "@lock_wait k0.lock", "op create k0.lock", "op flock k0.lock", "@lock_held k0.lock",
                 "@recheck k0/F", "op stat k0/F/k0.so !2", "op stat k0/F/lock !2", "op stat k0/F !2", "@make_dir k0/F",
                 "op mkdir k0/F", "@lock_wait k0/F/lock", "op create k0/F/lock", "@lock_held k0/F/lock"},
                inner,
                {"@unlock k0/F/lock", "op unlink k0/F/lock", "@load k0/F/k0.so", "op load k0/F/k0.so", "loaded 0",
                 "@load k0/F/k0.so", "op load k0/F/k0.so", "loaded 0", "@unlock k0.lock", "op unlock k0.lock"}})));
}

const Lines deepgemm_compile = {
    "@make_dir cache/kernel.k0.*", "op mkdir cache/kernel.k0.*", "@write_source cache/kernel.k0.*/kernel.cu",
    "op mkdir tmp", "op write tmp/*", "op rename tmp/* cache/kernel.k0.*/kernel.cu", "@spawn tmp/*", "+attempt",
    "tool shell", "wait child", "over 0", "-attempt 0", "@publish cache/kernel.k0.*/kernel.cubin",
    "op rename tmp/* cache/kernel.k0.*/kernel.cubin"};
const Lines deepgemm_load = {"@load cache/kernel.k0.*/kernel.cubin", "op load cache/kernel.k0.*/kernel.cubin",
                             "loaded 0"};

TEST(PresetSteps, DeepgemmRenamesEachFileWithoutALock) {
  EXPECT_THAT(cold_build("deepgemm"),
              ElementsAreArray(with({{"@probe cache/kernel.k0.*", "op stat cache/kernel.k0.*/kernel.cu !2"},
                                     deepgemm_compile,
                                     deepgemm_load})));
}

TEST(PresetSteps, DeepgemmFlockLooksAgainUnderTheLock) {
  EXPECT_THAT(
      cold_build("deepgemm-flock"),
      ElementsAreArray(with({{"@probe cache/kernel.k0.*", "op stat cache/kernel.k0.*/kernel.cu !2", "op mkdir locks",
                              "@lock_wait locks/kernel.k0.*.lock", "op create locks/kernel.k0.*.lock",
                              "wait flock locks/kernel.k0.*.lock", "over 0", "op flock locks/kernel.k0.*.lock",
                              "@lock_held locks/kernel.k0.*.lock", "@recheck cache/kernel.k0.*",
                              "op stat cache/kernel.k0.*/kernel.cu !2"},
                             deepgemm_compile,
                             deepgemm_load,
                             {"@unlock locks/kernel.k0.*.lock", "op unlock locks/kernel.k0.*.lock"}})));
}

TEST(PresetSteps, DeepgemmDirPublishesASyncedDirectory) {
  EXPECT_THAT(cold_build("deepgemm-dir"),
              ElementsAreArray(with({{"@probe cache/kernel.k0.*", "op stat cache/kernel.k0.* !2", "@make_dir tmp/*",
                                      "op mkdir tmp/*", "@write_source tmp/*/kernel.cu", "op write tmp/*/kernel.cu",
                                      "op fsync tmp/*/kernel.cu", "@spawn tmp/*/kernel.cubin", "+attempt", "tool shell",
                                      "wait child", "over 0", "-attempt 0", "@sync tmp/*", "op fsync tmp/*/kernel.cu",
                                      "op fsync tmp/*/kernel.cubin", "op fsync tmp/*", "op mkdir cache",
                                      "@publish cache/kernel.k0.*", "op rename tmp/* cache/kernel.k0.*"},
                                     deepgemm_load})));
}

TEST(PresetSteps, Sound) {
  EXPECT_THAT(
      cold_build("sound"),
      ElementsAreArray(Lines{
          "@probe entries/k0.*", "op read entries/k0.*/manifest !2", "op stat entries/k0.* !2", "op mkdir locks",
          "@lock_wait locks/k0.*", "op create locks/k0.*", "op flock locks/k0.*", "@lock_held locks/k0.*",
          "@recheck entries/k0.*", "op list entries !2", "op read entries/k0.*/manifest !2", "op stat entries/k0.* !2",
          "@make_dir tmp/*", "op mkdir tmp/*", "@write_source tmp/*/kernel.cu", "op write tmp/*/kernel.cu",
          "@spawn tmp/*/kernel.cubin", "+attempt", "op write locks/k0.*", "wait child", "over 0", "-attempt 0",
          "op write locks/k0.*", "op read tmp/*/kernel.cubin", "@publish_meta tmp/*", "op write tmp/*/manifest",
          "@sync tmp/*", "op fsync tmp/*/kernel.cu", "op fsync tmp/*/kernel.cubin", "op fsync tmp/*/manifest",
          "op fsync tmp/*", "op mkdir entries", "@publish entries/k0.*", "op rename tmp/* entries/k0.*", "op list tmp",
          "@unlock locks/k0.*", "op unlock locks/k0.*", "@load entries/k0.*/kernel.cubin", "loaded 0"}));
}

class EveryPreset : public testing::TestWithParam<std::string> {};

TEST_P(EveryPreset, PassesThePointsItDeclares) {
  const Preset& preset = *find_preset(GetParam());
  Bench bench;
  Recorder recorder;
  Engine engine(preset, bench.job, recorder);
  ASSERT_EQ(engine.get(0).outcome, Outcome::built);
  std::vector<std::string> declared;
  for (const Point point : preset.points) {
    // Announced by the compiler itself, or only by a client whose rename target is in use.
    if (point == Point::compile || point == Point::output || point == Point::link || point == Point::rename_gap)
      continue;
    declared.emplace_back(name_of(point));
  }
  std::vector<std::string> passed = recorder.points();
  std::sort(declared.begin(), declared.end());
  std::sort(passed.begin(), passed.end());
  passed.erase(std::unique(passed.begin(), passed.end()), passed.end());
  EXPECT_EQ(passed, declared);
}

TEST_P(EveryPreset, SecondGetMakesNoCallAtAll) {
  Bench bench;
  Recorder recorder;
  Engine engine(*find_preset(GetParam()), bench.job, recorder);
  ASSERT_EQ(engine.get(0).outcome, Outcome::built);
  recorder.take();
  const GetEnd second = engine.get(0);
  EXPECT_EQ(second.outcome, Outcome::served);
  EXPECT_THAT(recorder.take(), IsEmpty());
}

TEST_P(EveryPreset, FreshProcessOnAWarmCacheIsServedAndBuildsNothing) {
  Bench bench;
  Recorder recorder;
  const Preset& preset = *find_preset(GetParam());
  ASSERT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
  const Layout layout = layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake);
  const Result<std::string> before = read_file(layout.artifact);
  recorder.take();
  Engine second(preset, bench.job, recorder);
  const GetEnd end = second.get(0);
  EXPECT_EQ(end.outcome, Outcome::served) << end.message;
  EXPECT_EQ(*read_file(layout.artifact), *before);
  for (const std::string& line : recorder.lines_with("op ")) EXPECT_FALSE(line.starts_with("op write k0")) << line;
}

TEST_P(EveryPreset, ForcedRebuildBuildsAgain) {
  Bench bench;
  Recorder recorder;
  const Preset& preset = *find_preset(GetParam());
  ASSERT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
  Engine second(preset, bench.job, recorder);
  const GetEnd end = second.force_rebuild(0);
  EXPECT_EQ(end.outcome, Outcome::built) << end.message;
}

TEST_P(EveryPreset, ClearLeavesNothingOfTheKey) {
  Bench bench(2);
  Recorder recorder;
  const Preset& preset = *find_preset(GetParam());
  ASSERT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
  ASSERT_EQ(Engine(preset, bench.job, recorder).get(1).outcome, Outcome::built);
  EXPECT_EQ(Engine(preset, bench.job, recorder).clear(0).outcome, Outcome::served);
  EXPECT_FALSE(exists(layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake).entry));
  EXPECT_TRUE(exists(layout_of(preset, bench.job.root, "k1", "sm_90a", ToolchainKind::fake).artifact));
  EXPECT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
}

TEST_P(EveryPreset, CompilerErrorReachesTheUserAndTheLocksAreFree) {
  Bench bench;
  bench.job.keys[0].source = "#error no such thing\n";
  Recorder recorder;
  const Preset& preset = *find_preset(GetParam());
  const GetEnd end = Engine(preset, bench.job, recorder).get(0);
  EXPECT_EQ(end.outcome, Outcome::failed);
  EXPECT_THAT(end.message, testing::HasSubstr("#error no such thing"));
  // The next one must not find a lock in its way.
  bench.job.keys[0].source = "__global__ void k() {}\n";
  const GetEnd next = Engine(preset, bench.job, recorder).get(0);
  EXPECT_EQ(next.outcome, Outcome::built) << next.message;
}

// All but the daemon, whose builds happen in another process (tests/unit/daemon).
std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto* table : {&presets(), &preset_variants()}) {
    for (const Preset& preset : *table) {
      if (preset.locks.empty() || preset.locks[0].kind != LockKind::daemon) names.emplace_back(preset.name);
    }
  }
  return names;
}
std::string test_name(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  for (char& c : name) {
    if (c == '-' || c == ' ') c = '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, EveryPreset, testing::ValuesIn(preset_names()), test_name);

}  // namespace
}  // namespace jitrace
