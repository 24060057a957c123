#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "unit/base/fixture.h"

namespace jitrace {
namespace {

TEST(File, WholeFilesComeBack) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "f");
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{200'000}}) {
    const std::string data(size, '\0');
    ASSERT_TRUE(write_file(path, data));
    EXPECT_EQ(read_file(path).value(), data);
    EXPECT_EQ(file_size(path).value(), size);
  }
  EXPECT_EQ(read_file(join(dir.path(), "none")).error().code, ENOENT);
  EXPECT_EQ(read_file(dir.path()).error().code, EISDIR);
  EXPECT_EQ(file_size(join(dir.path(), "none")).error().code, ENOENT);
}

TEST(File, OnlyARegularFileIsReadWhereAnythingMayLie) {
  const TempDir dir = scratch();
  ASSERT_TRUE(write_file(join(dir.path(), "file"), "text"));
  EXPECT_EQ(read_regular_file(join(dir.path(), "file")).value(), "text");
  ASSERT_EQ(::mkfifo(join(dir.path(), "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("fifo", join(dir.path(), "link").c_str()), 0);
  for (const char* name : {"fifo", "link", "."}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(read_regular_file(join(dir.path(), name)).error().code, EINVAL);
  }
  EXPECT_EQ(read_regular_file("/dev/zero").error().code, EINVAL);
  EXPECT_EQ(read_regular_file(join(dir.path(), "none")).error().code, ENOENT);
}

TEST(File, WritingToAFullDeviceIsAnError) {
  const Fd full = std::move(open_fd("/dev/full", O_WRONLY).value());
  EXPECT_EQ(write_all(full, "x", "/dev/full").error().code, ENOSPC);
}

TEST(File, CopiesBytesAndMode) {
  const TempDir dir = scratch();
  const std::string from = join(dir.path(), "a"), to = join(dir.path(), "b");
  ASSERT_TRUE(write_file(from, "x", 0700));
  ASSERT_TRUE(copy_file(from, to));
  struct stat s {};
  ASSERT_EQ(::stat(to.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  EXPECT_EQ(read_file(to).value(), "x");
}

TEST(File, MakesAndRemovesTrees) {
  const TempDir dir = scratch();
  const std::string deep = join(dir.path(), "a/b/c");
  EXPECT_TRUE(make_dirs(deep));
  EXPECT_TRUE(make_dirs(deep));
  ASSERT_TRUE(write_file(join(deep, "f"), "x"));
  EXPECT_EQ(make_dirs(join(deep, "f")).error().code, EEXIST);
  EXPECT_EQ(make_dirs(join(deep, "f/g")).error().code, ENOTDIR);
  EXPECT_EQ(list_tree(dir.path()), (std::vector<std::string>{"a/", "a/b/", "a/b/c/", "a/b/c/f"}));
  EXPECT_TRUE(remove_tree(join(dir.path(), "a")));
  EXPECT_FALSE(exists(join(dir.path(), "a")));
  EXPECT_TRUE(remove_tree(join(dir.path(), "a")));
  EXPECT_TRUE(remove_file(join(dir.path(), "a")));
  EXPECT_FALSE(remove_file(dir.path()));
}

TEST(File, RemovesALinkAndNotWhatItNames) {
  const TempDir dir = scratch();
  ASSERT_TRUE(make_dirs(join(dir.path(), "users")));
  ASSERT_TRUE(write_file(join(dir.path(), "users/f"), "x"));
  ASSERT_TRUE(make_dirs(join(dir.path(), "ours")));
  ASSERT_EQ(::symlink("../users", join(dir.path(), "ours/link").c_str()), 0);
  ASSERT_TRUE(remove_tree(join(dir.path(), "ours")));
  EXPECT_TRUE(exists(join(dir.path(), "users/f")));
}

TEST(File, ListsSortedAndSeesDanglingLinks) {
  const TempDir dir = scratch();
  for (const char* name : {"b", "a", ".c"}) ASSERT_TRUE(write_file(join(dir.path(), name), ""));
  EXPECT_EQ(list_dir(dir.path()).value(), (std::vector<std::string>{".c", "a", "b"}));
  EXPECT_EQ(list_dir(join(dir.path(), "none")).error().code, ENOENT);
  ASSERT_EQ(::symlink("nowhere", join(dir.path(), "dangling").c_str()), 0);
  EXPECT_TRUE(exists(join(dir.path(), "dangling")));
}

TEST(File, TakesPathsApart) {
  EXPECT_EQ(join("a", "b"), "a/b");
  EXPECT_EQ(join("a/", "b"), "a/b");
  EXPECT_EQ(join("", "b"), "b");
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("a"), ".");
  EXPECT_EQ(base_of("/a/b"), "b");
  EXPECT_EQ(base_of("b"), "b");
  EXPECT_TRUE(exists(join(own_dir(), "test_unit_base")));
}

TEST(TempDir, IsRemovedUnlessKept) {
  const TempDir outer = scratch();
  std::string gone, kept;
  {
    TempDir a = std::move(TempDir::create(outer.path(), "t-").value());
    TempDir b = std::move(TempDir::create(outer.path(), "t-").value());
    EXPECT_NE(a.path(), b.path());
    gone = a.path();
    ASSERT_TRUE(write_file(join(gone, "f"), "x"));
    const TempDir moved = std::move(a);
    EXPECT_EQ(moved.path(), gone);
    kept = b.keep();
  }
  EXPECT_FALSE(exists(gone));
  EXPECT_TRUE(exists(kept));
  EXPECT_EQ(TempDir::create(join(outer.path(), "none"), "t-").error().code, ENOENT);
}

}  // namespace
}  // namespace jitrace
