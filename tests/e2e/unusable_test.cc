// Places that cannot be used: exit 69, one sentence with the path and the remedy, nothing made that was not taken back.

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"
#include "support/private_mount.h"

namespace jitrace::test {
namespace {

class Unusable : public E2eTest {
 protected:
  Ran refused(const std::vector<std::string>& arguments, const std::string& path) {
    std::vector<std::string> all = {"run", scenario(quick_scenario())};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto before = list_tree(at("work"));
    const Ran ran = run(all);
    EXPECT_EQ(ran.code, 69) << ran.err << ran.out;
    EXPECT_EQ(line_count(ran.err), 1) << ran.err;
    EXPECT_NE(ran.err.find(path), std::string::npos) << ran.err;
    EXPECT_EQ(list_tree(at("work")), before) << "something was made";
    return ran;
  }

  // An empty directory on a file system of this many KiB; nothing if this machine lets us have none.
  std::optional<PrivateMount> small_disk(const std::string& name, int kib) const {
    EXPECT_TRUE(make_dirs(at(name)));
    auto mount = PrivateMount::create(at(name), "size=" + std::to_string(kib) + "k");
    if (!mount) return std::nullopt;
    return std::move(*mount);
  }

  void fill(const std::string& directory) const {
    const auto fd = open_fd(directory + "/full", O_WRONLY | O_CREAT);
    ASSERT_TRUE(fd);
    const std::string block(4096, 'x');
    while (write_all(*fd, block, "full")) {
    }
  }
};

constexpr const char* no_mount = "a file system of its own needs root";

TEST_F(Unusable, CacheThatIsMissing) {
  EXPECT_NE(refused({"--cache", at("nowhere")}, at("nowhere")).err.find("create it"), std::string::npos);
}

TEST_F(Unusable, CacheThatIsAFile) { refused({"--cache", at("home/.bashrc")}, at("home/.bashrc")); }

TEST_F(Unusable, SecondCacheThatIsMissing) { refused({"--cache", cache() + "," + at("nowhere")}, at("nowhere")); }

TEST_F(Unusable, TwoDirectoriesThatAreNotOne) {
  ASSERT_TRUE(make_dirs(at("other")));
  const Ran ran = refused({"--cache", cache() + "," + at("other")}, at("other"));
  EXPECT_NE(ran.err.find("two mounts of one directory"), std::string::npos) << ran.err;
  EXPECT_TRUE(list_tree(at("other")).empty());
}

TEST_F(Unusable, CacheThatIsReadOnly) {
  auto disk = small_disk("disk", 1024);
  if (!disk) GTEST_SKIP() << no_mount;
  ASSERT_TRUE(disk->make_read_only());
  EXPECT_NE(refused({"--cache", at("disk")}, at("disk")).err.find("writable"), std::string::npos);
  EXPECT_TRUE(disk->unmount());
}

TEST_F(Unusable, CacheThatIsForbidden) {
  // To root nothing is forbidden: what is started from here on is root without that.
  if (::geteuid() == 0) {
    ASSERT_EQ(::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0), 0);
  }
  ASSERT_TRUE(make_dirs(at("closed")));
  ASSERT_EQ(::chmod(at("closed").c_str(), 0555), 0);
  EXPECT_NE(refused({"--cache", at("closed")}, at("closed")).err.find("writable"), std::string::npos);
}

TEST_F(Unusable, CacheThatIsFull) {
  auto disk = small_disk("disk", 1024);
  if (!disk) GTEST_SKIP() << no_mount;
  fill(at("disk"));
  EXPECT_NE(refused({"--cache", at("disk")}, at("disk")).err.find("No space left"), std::string::npos);
  EXPECT_EQ(list_tree(at("disk")), std::vector<std::string>{"full"});
  EXPECT_TRUE(disk->unmount());
}

TEST_F(Unusable, OutThatIsNotEmpty) {
  const Ran ran = refused({"--out", at("home")}, at("home"));
  EXPECT_NE(ran.err.find("not empty"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("--out"), std::string::npos) << ran.err;
}

TEST_F(Unusable, OutThatIsAFile) {
  EXPECT_NE(refused({"--out", at("home/.bashrc")}, at("home/.bashrc")).err.find("--out"), std::string::npos);
}

TEST_F(Unusable, OutBelowAFile) { refused({"--out", at("home/.bashrc/out")}, at("home/.bashrc/out")); }

TEST_F(Unusable, OutThatIsReadOnly) {
  auto disk = small_disk("disk", 1024);
  if (!disk) GTEST_SKIP() << no_mount;
  ASSERT_TRUE(disk->make_read_only());
  EXPECT_NE(refused({"--out", at("disk/out")}, at("disk/out")).err.find("--out"), std::string::npos);
  EXPECT_TRUE(disk->unmount());
}

TEST_F(Unusable, OutThatIsFullAtOnce) {
  auto disk = small_disk("disk", 1024);
  if (!disk) GTEST_SKIP() << no_mount;
  fill(at("disk"));
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", at("disk/out"), "--cache", cache()});
  EXPECT_EQ(ran.code, 69) << ran.err << ran.out;
  EXPECT_NE(ran.err.find(at("disk")), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("No space left"), std::string::npos) << ran.err;
  expect_nothing_left({at("disk")});
  EXPECT_TRUE(disk->unmount());
}

TEST_F(Unusable, OutThatFillsInMidRun) {
  // Room for a trial and some histories, and not for all of them.
  auto disk = small_disk("disk", 3 * 1024);
  if (!disk) GTEST_SKIP() << no_mount;
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", at("disk/out"), "--cache", cache(), "--trials", "100000"});
  EXPECT_EQ(ran.code, 69) << ran.err << ran.out;
  EXPECT_NE(ran.err.find(at("disk/out")), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("No space left"), std::string::npos) << ran.err;
  // What was measured is there, whole, and was shown.
  EXPECT_TRUE(exists(at("disk/out/cells/torch-flock+none+fake+sm_90a/trial-1.history")));
  EXPECT_NE(ran.out.find("torch-flock"), std::string::npos) << ran.out;
  expect_nothing_left({at("disk")});
  EXPECT_TRUE(disk->unmount());
}

}  // namespace
}  // namespace jitrace::test
