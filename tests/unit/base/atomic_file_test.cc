#include "base/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "f");
  ASSERT_TRUE(write_file(path, "old"));
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new "));
  ASSERT_TRUE(file->write("text"));
  EXPECT_EQ(read_file(path).value(), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path).value(), "new text");
  EXPECT_EQ(list_dir(dir.path())->size(), 1u);
}

TEST(AtomicFile, LeavesNothingWhenDropped) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "f");
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
    const AtomicFile moved = std::move(*file);
    EXPECT_EQ(list_dir(dir.path())->size(), 1u);
  }
  EXPECT_TRUE(list_dir(dir.path())->empty());
}

TEST(AtomicFile, AFailedCommitSaysSoAndCleansUp) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "d");
  ASSERT_TRUE(make_dirs(join(path, "not empty")));
  EXPECT_EQ(write_file_atomically(path, "x").error().code, EISDIR);
  EXPECT_EQ(list_dir(dir.path())->size(), 1u);
  EXPECT_EQ(AtomicFile::create(join(dir.path(), "none/f")).error().code, ENOENT);
}

}  // namespace
}  // namespace jitrace
