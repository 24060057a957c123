#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "process/proc.h"
#include "process/process.h"
#include "strategy/check.h"
#include "strategy/publish.h"
#include "unit/strategy/recorder.h"

namespace jitrace {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// A process of a client that has a file open.
Process reader_of(const std::string& path, int client) {
  const Result<Fd> fd = open_fd(path, O_RDONLY);
  EXPECT_TRUE(fd);
  Command command;
  command.argv = {"sleep", "60"};
  command.environment = environment_with({"JITRACE_CLIENT=" + std::to_string(client)});
  command.in = fd->get();
  Result<Process> process = Process::spawn(command);
  EXPECT_TRUE(process);
  // Its environment is to be read only a moment after its exec.
  const auto seen = [&] {
    const std::vector<pid_t> all = find_by_environment("JITRACE_CLIENT=" + std::to_string(client));
    return std::find(all.begin(), all.end(), process->pid()) != all.end();
  };
  while (!seen()) {
  }
  return std::move(*process);
}

class PublishTest : public testing::Test {
 protected:
  PublishTest() {
    bench_.job.rename = RenameMode::nfs_busy;
    bench_.job.client = 1;
    EXPECT_TRUE(write_file(from_, "new"));
    EXPECT_TRUE(write_file(to_, "old"));
  }

  Bench bench_;
  Recorder recorder_;
  Files files_{recorder_, bench_.job.root};
  std::string from_ = bench_.job.root + "/from";
  std::string to_ = bench_.job.root + "/to";
};

TEST_F(PublishTest, TargetOpenOnThisClientLeavesAGapInWhichNobodyFindsTheName) {
  const Process reader = reader_of(to_, 1);
  bool seen_gap = false;
  recorder_.at_point = [&](Point point) { seen_gap = point == Point::rename_gap && !exists(to_); };
  ASSERT_TRUE(rename_onto(from_, to_, files_, bench_.job));
  EXPECT_TRUE(seen_gap);
  EXPECT_EQ(*read_file(to_), "new");
  EXPECT_THAT(*list_dir(bench_.job.root), testing::ElementsAre("to")) << "no silly name stays";
}

TEST_F(PublishTest, TargetOpenOnAnotherClientIsRenamedOverAtOnce) {
  const Process reader = reader_of(to_, 2);
  ASSERT_TRUE(rename_onto(from_, to_, files_, bench_.job));
  EXPECT_THAT(recorder_.points(), IsEmpty());
  EXPECT_EQ(*read_file(to_), "new");
}

TEST_F(PublishTest, TargetThatNobodyHasOpenIsRenamedOverAtOnce) {
  ASSERT_TRUE(rename_onto(from_, to_, files_, bench_.job));
  EXPECT_THAT(recorder_.points(), IsEmpty());
}

TEST_F(PublishTest, OneClientAloneSeesNoGap) {
  bench_.job.rename = RenameMode::local;
  const Process reader = reader_of(to_, 1);
  ASSERT_TRUE(rename_onto(from_, to_, files_, bench_.job));
  EXPECT_THAT(recorder_.points(), IsEmpty());
}

// An entry of `sound`, and what may have become of it since.
class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    EXPECT_EQ(Engine(sound_, bench_.job, recorder_).get(0).outcome, Outcome::built);
    layout_ = layout_of(sound_, bench_.job.root, "k0", "sm_90a", ToolchainKind::fake);
  }
  Look look(std::string_view kernel = "k0", std::string_view arch = "sm_90a") {
    return look_at(sound_, layout_, kernel, arch, files_).look;
  }
  // A get of a fresh process must repair whatever it finds.
  void expect_repaired() {
    Recorder recorder;
    const GetEnd end = Engine(sound_, bench_.job, recorder).get(0);
    EXPECT_EQ(end.outcome, Outcome::built) << end.message;
    EXPECT_EQ(look(), Look::hit);
  }

  const Preset& sound_ = *find_preset("sound");
  Bench bench_;
  Recorder recorder_;
  Files files_{recorder_, bench_.job.root};
  Layout layout_;
};

TEST_F(ManifestTest, HitNamesItsPublisher) {
  const Looked looked = look_at(sound_, layout_, "k0", "sm_90a", files_);
  EXPECT_EQ(looked.look, Look::hit);
  EXPECT_EQ(looked.attempt, recorder_.attempts.back());
  EXPECT_EQ(looked.bytes, *read_file(layout_.artifact));
}
TEST_F(ManifestTest, IsOfOneKeyAndArch) {
  EXPECT_EQ(look("k1"), Look::bad);
  EXPECT_EQ(look("k0", "sm_100a"), Look::bad);
}
TEST_F(ManifestTest, CutArtifactIsRepaired) {
  ASSERT_TRUE(write_file(layout_.artifact, "cut"));
  EXPECT_EQ(look(), Look::bad);
  expect_repaired();
}
TEST_F(ManifestTest, FlippedByteIsRepaired) {
  std::string bytes = *read_file(layout_.artifact);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(write_file(layout_.artifact, bytes));
  expect_repaired();
}
TEST_F(ManifestTest, MissingFileIsRepaired) {
  ASSERT_TRUE(remove_file(layout_.source));
  expect_repaired();
}
TEST_F(ManifestTest, MissingOrEmptyManifestIsRepaired) {
  ASSERT_TRUE(write_file(layout_.manifest, ""));
  expect_repaired();
  ASSERT_TRUE(remove_file(layout_.manifest));
  expect_repaired();
}

TEST(TorchBaton, ReleaseOfABatonThatSomebodyHasSweptIsTheUsersException) {
  Bench bench;
  Recorder recorder;
  const Preset& preset = *find_preset("torch-baton");
  const Layout layout = layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake);
  recorder.at_point = [&](Point point) {
    if (point != Point::unlock) return;
    EXPECT_TRUE(remove_file(layout.locks[0]));
  };
  const GetEnd end = Engine(preset, bench.job, recorder).get(0);
  EXPECT_EQ(end.outcome, Outcome::failed);
  EXPECT_THAT(end.message, testing::StartsWith("FileNotFoundError: [Errno 2] No such file or directory: '"));
}

TEST(DeepgemmDir, ThrowsForEverWhereAFileIsMissing) {
  Bench bench;
  Recorder recorder;
  const Preset& preset = *find_preset("deepgemm-dir");
  ASSERT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
  const Layout layout = layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake);
  ASSERT_TRUE(remove_file(layout.source));
  for (int i = 0; i < 2; ++i) {
    const GetEnd end = Engine(preset, bench.job, recorder).get(0);
    EXPECT_EQ(end.outcome, Outcome::failed);
    EXPECT_THAT(end.message,
                testing::StartsWith("Corrupted JIT cache directory (missing kernel.cu or kernel.cubin): "));
  }
}

TEST(DeepgemmDir, LoserLoadsTheWinners) {
  Bench bench;
  Recorder winner;
  Recorder loser;
  const Preset& preset = *find_preset("deepgemm-dir");
  Bench other;
  other.job.root = bench.job.root;
  other.job.slot = 1;
  loser.at_point = [&](Point point) {
    if (point != Point::publish) return;
    EXPECT_EQ(Engine(preset, bench.job, winner).get(0).outcome, Outcome::built);
  };
  const GetEnd end = Engine(preset, other.job, loser).get(0);
  EXPECT_EQ(end.outcome, Outcome::built) << end.message;
  Event loaded;
  for (const Event& event : loser.events) {
    if (event.kind == EventKind::loaded) loaded = event;
  }
  EXPECT_EQ(loaded.attempt, winner.attempts.back());
  EXPECT_THAT(*list_dir(bench.job.root + "/tmp"), IsEmpty());
}

TEST(Deepgemm, CubinThatVanishesBeforeTheLoadIs301) {
  Bench bench;
  Recorder recorder;
  const Preset& preset = *find_preset("deepgemm");
  const Layout layout = layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake);
  recorder.at_point = [&](Point point) {
    if (point != Point::load) return;
    EXPECT_TRUE(remove_file(layout.artifact));
  };
  const GetEnd end = Engine(preset, bench.job, recorder).get(0);
  EXPECT_EQ(end.outcome, Outcome::failed);
  EXPECT_THAT(end.message, testing::HasSubstr("301 (CUDA_ERROR_FILE_NOT_FOUND, file not found)"));
}

// The planted variants that the power suite is built of must differ from what they spoil.
TEST(Planted, SweepWithoutTheVersionGateUnlinksALiveFlock) {
  Bench bench;
  Recorder recorder;
  Preset preset = *find_preset("msa-flock over flock");
  preset.locks[0].gate = SweepGate::ungated;
  const Layout layout = layout_of(preset, bench.job.root, "k0", "sm_90a", ToolchainKind::fake);
  ASSERT_TRUE(make_dirs(layout.entry));
  ASSERT_TRUE(write_file(layout.locks[1], ""));
  EXPECT_EQ(Engine(preset, bench.job, recorder).get(0).outcome, Outcome::built);
  EXPECT_THAT(recorder.lines_with("op unlink k0/lock"), Not(IsEmpty()));
  EXPECT_THAT(recorder.lines_with("warn "), Not(IsEmpty()));
}

TEST(Planted, UnlockBeforePublishShowsInTheOrderOfThePoints) {
  Bench bench;
  for (const char* name : {"deepgemm-flock", "sound", "torch-flock"}) {
    Recorder recorder;
    Preset preset = *find_preset(name);
    preset.unlock = Unlock::before_publish;
    const GetEnd end = Engine(preset, bench.job, recorder).get(0);
    EXPECT_EQ(end.outcome, Outcome::built) << end.message;
    const std::vector<std::string> points = recorder.points();
    const auto at = [&](const char* point) { return std::find(points.begin(), points.end(), point) - points.begin(); };
    EXPECT_LT(at("unlock"), at(preset.publish == Publish::in_place ? "spawn" : "publish")) << name;
  }
}

}  // namespace
}  // namespace jitrace
