#include "trace/decode.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "trace/call_table.h"

namespace jitrace {
namespace {

template <class T>
std::uint64_t word(T value) {
  if constexpr (std::is_null_pointer_v<T>) return 0;
  else if constexpr (std::is_pointer_v<T> || std::is_array_v<T>) return reinterpret_cast<std::uint64_t>(value);
  else return static_cast<std::uint64_t>(value);
}

// Decodes a call whose addresses are our own: to process_vm_readv we are a process like any other.
template <class... Args>
Call decoded(long number, Args... args) {
  return decode(RawCall{static_cast<std::uint64_t>(number), {word(args)...}}, TraceeMemory(::getpid()));
}

TEST(Decode, Open) {
  Call call = decoded(SYS_openat, AT_FDCWD, "lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  EXPECT_EQ(call.op, Op::open);
  EXPECT_STREQ(call.name, "openat");
  EXPECT_EQ(call.directory, AT_FDCWD);
  EXPECT_EQ(call.path, "lock");
  EXPECT_EQ(call.detail, "O_WRONLY|O_CREAT|O_EXCL");
  EXPECT_FALSE(call.follows);
  call = decoded(SYS_open, "/a/b", O_RDONLY);
  EXPECT_EQ(call.path, "/a/b");
  EXPECT_TRUE(call.follows);
  EXPECT_EQ(call.detail, "O_RDONLY");
  call = decoded(SYS_creat, "/a/c", 0644);
  EXPECT_EQ(call.detail, "O_WRONLY|O_CREAT|O_TRUNC");
  call = decoded(SYS_openat, 7, "x", O_RDWR | O_NOFOLLOW | O_APPEND);
  EXPECT_EQ(call.directory, 7);
  EXPECT_FALSE(call.follows);
  EXPECT_EQ(call.detail, "O_RDWR|O_APPEND|O_NOFOLLOW");
  EXPECT_EQ(open_flags(O_RDWR | O_TMPFILE), "O_RDWR|O_TMPFILE");
  EXPECT_EQ(open_flags(O_PATH | O_DIRECTORY), "O_PATH|O_DIRECTORY");
}

TEST(Decode, OpenWithAStruct) {
  open_how how{O_RDWR | O_CREAT, 0600, 0};
  Call call = decoded(SYS_openat2, 5, "/x", &how, sizeof how);
  EXPECT_EQ(call.op, Op::open);
  EXPECT_EQ(call.directory, 5);
  EXPECT_EQ(call.path, "/x");
  EXPECT_EQ(call.flags, static_cast<std::uint64_t>(O_RDWR | O_CREAT));
  how.resolve = RESOLVE_IN_ROOT;
  call = decoded(SYS_openat2, 5, "//x/y", &how, sizeof how);
  EXPECT_EQ(call.path, "x/y");
  call = decoded(SYS_openat2, 5, "/", &how, sizeof how);
  EXPECT_EQ(call.path, ".");
}

TEST(Decode, TwoPaths) {
  Call call = decoded(SYS_renameat2, 3, "from", 4, "to", RENAME_NOREPLACE);
  EXPECT_EQ(call.op, Op::rename);
  EXPECT_EQ(call.directory, 3);
  EXPECT_EQ(call.path, "from");
  EXPECT_EQ(call.directory2, 4);
  EXPECT_EQ(call.path2, "to");
  EXPECT_FALSE(call.follows);
  EXPECT_EQ(call.detail, "RENAME_NOREPLACE");
  call = decoded(SYS_link, "a", "b");
  EXPECT_EQ(call.op, Op::link);
  EXPECT_FALSE(call.follows);
  EXPECT_EQ(call.path2, "b");
  EXPECT_TRUE(decoded(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "b", AT_SYMLINK_FOLLOW).follows);
  call = decoded(SYS_symlinkat, "content", 6, "link");
  EXPECT_EQ(call.op, Op::symlink);
  EXPECT_EQ(call.path, "content");
  EXPECT_EQ(call.directory2, 6);
  EXPECT_EQ(call.path2, "link");
}

TEST(Decode, RemovalsAndLooks) {
  EXPECT_EQ(decoded(SYS_unlinkat, AT_FDCWD, "d", 0).op, Op::unlink);
  EXPECT_EQ(decoded(SYS_unlinkat, AT_FDCWD, "d", AT_REMOVEDIR).op, Op::remove_dir);
  EXPECT_FALSE(decoded(SYS_unlink, "d").follows);
  EXPECT_TRUE(decoded(SYS_stat, "d", nullptr).follows);
  EXPECT_FALSE(decoded(SYS_lstat, "d", nullptr).follows);
  EXPECT_FALSE(decoded(SYS_newfstatat, AT_FDCWD, "d", nullptr, AT_SYMLINK_NOFOLLOW).follows);
  EXPECT_TRUE(decoded(SYS_statx, AT_FDCWD, "d", 0).follows);
  EXPECT_FALSE(decoded(SYS_readlink, "d").follows);
}

TEST(Decode, ADescriptorAloneIsNoPath) {
  EXPECT_EQ(decoded(SYS_newfstatat, 3, "", nullptr, AT_EMPTY_PATH).op, Op::other);
  EXPECT_EQ(decoded(SYS_statx, 3, "", AT_EMPTY_PATH).op, Op::other);
  EXPECT_EQ(decoded(SYS_newfstatat, 3, "x", nullptr, AT_EMPTY_PATH).op, Op::stat);
  EXPECT_EQ(decoded(SYS_fstat, 3, nullptr).op, Op::other);
  const Call times = decoded(SYS_utimensat, 8, nullptr, nullptr, 0);  // futimens
  EXPECT_EQ(times.op, Op::times);
  EXPECT_EQ(times.fd, 8);
  const Call link = decoded(SYS_linkat, 9, "", AT_FDCWD, "name", AT_EMPTY_PATH);
  EXPECT_EQ(link.op, Op::link);
  EXPECT_EQ(link.fd, 9);
  EXPECT_EQ(link.path2, "name");
}

TEST(Decode, Sizes) {
  EXPECT_EQ(decoded(SYS_write, 1, "abc", 3).size, 3U);
  char a[10], b[20];
  const iovec parts[] = {{a, sizeof a}, {b, sizeof b}};
  const Call call = decoded(SYS_pwritev, 4, parts, 2, 0);
  EXPECT_EQ(call.op, Op::write);
  EXPECT_EQ(call.fd, 4);
  EXPECT_EQ(call.size, 30U);
  EXPECT_EQ(decoded(SYS_writev, 4, nullptr, 2).size, 0U);
  EXPECT_EQ(decoded(SYS_writev, 4, parts, ~0ULL).fd, 4);  // EINVAL to the kernel, no trap for us
  EXPECT_EQ(decoded(SYS_ftruncate, 4, 99).size, 99U);
  const Call copy = decoded(SYS_copy_file_range, 3, nullptr, 4, nullptr, 77, 0);
  EXPECT_EQ(copy.op, Op::copy);
  EXPECT_EQ(copy.fd, 4);
  EXPECT_EQ(copy.size, 77U);
  EXPECT_EQ(decoded(SYS_sendfile, 5, 3, nullptr, 6).fd, 5);
  EXPECT_EQ(decoded(SYS_splice, 3, nullptr, 8, nullptr, 6, 0).fd, 8);
  EXPECT_EQ(decoded(SYS_ioctl, 5, FICLONE, 3).detail, "FICLONE");
}

TEST(Decode, Locks) {
  EXPECT_EQ(decoded(SYS_flock, 3, LOCK_EX).detail, "LOCK_EX");
  EXPECT_EQ(decoded(SYS_flock, 3, LOCK_EX | LOCK_NB).detail, "LOCK_EX|LOCK_NB");
  EXPECT_EQ(decoded(SYS_flock, 3, LOCK_UN).detail, "LOCK_UN");
  struct flock lock {};
  lock.l_type = F_WRLCK;
  const Call call = decoded(SYS_fcntl, 3, F_OFD_SETLKW, &lock);
  EXPECT_EQ(call.op, Op::range_lock);
  EXPECT_EQ(call.fd, 3);
  EXPECT_EQ(call.flags, static_cast<std::uint64_t>(F_OFD_SETLKW));
  EXPECT_EQ(call.detail, "F_OFD_SETLKW F_WRLCK");
  lock.l_type = F_UNLCK;
  EXPECT_EQ(decoded(SYS_fcntl, 3, F_SETLK, &lock).detail, "F_SETLK F_UNLCK");
  EXPECT_EQ(decoded(SYS_fcntl, 3, F_SETLK, nullptr).detail, "F_SETLK");
}

TEST(Decode, SignalsSleepsAndTheRest) {
  const Call call = decoded(SYS_tgkill, 10, 11, SIGTERM);
  EXPECT_EQ(call.op, Op::kill);
  EXPECT_EQ(call.flags, static_cast<std::uint64_t>(SIGTERM));
  EXPECT_EQ(call.detail, "SIGTERM");
  EXPECT_EQ(decoded(SYS_kill, 10, 40).detail, "signal 40");
  for (int number = 1; number < 32; ++number) {
    if (number == SIGIO) continue;  // SIGPOLL by its other name
    EXPECT_EQ(decoded(SYS_kill, 1, number).detail, "SIG" + std::string(::sigabbrev_np(number)));
  }
  const timespec time{1, 500};
  EXPECT_EQ(decoded(SYS_nanosleep, &time).detail, "1.000000500 s");
  EXPECT_EQ(decoded(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time).detail, "1.000000500 s");
  EXPECT_EQ(decoded(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time).detail, "until 1.000000500 s");
  EXPECT_EQ(decoded(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 6, 0).detail, "PROT_READ|PROT_WRITE");
  EXPECT_EQ(decoded(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 6, 0).fd, 6);
  EXPECT_EQ(decoded(SYS_ptrace, PTRACE_SEIZE, 5).detail, "PTRACE_SEIZE");
  EXPECT_EQ(decoded(SYS_mount, "tmpfs", "/where").path, "/where");
  EXPECT_EQ(decoded(SYS_io_uring_setup, 8, nullptr).op, Op::bypass);
  EXPECT_EQ(decoded(SYS_getpid).op, Op::other);
  EXPECT_EQ(name_of_call(SYS_renameat2), "renameat2");
  EXPECT_EQ(name_of_call(99999), "call 99999");
}

TEST(Decode, NodesAndNamesOfSockets) {
  Call call = decoded(SYS_mknodat, 7, "fifo", S_IFIFO | 0600, 0);
  EXPECT_EQ(call.op, Op::make_node);
  EXPECT_EQ(call.directory, 7);
  EXPECT_EQ(call.path, "fifo");
  EXPECT_FALSE(call.follows);
  sockaddr_un address{AF_UNIX, "/a/server.sock"};
  call = decoded(SYS_bind, 3, &address, sizeof address);
  EXPECT_EQ(call.op, Op::make_node);
  EXPECT_EQ(call.path, "/a/server.sock");
  EXPECT_EQ(call.fd, -1) << "it is about the name";
  // Without the NUL, as the kernel takes it, too.
  EXPECT_EQ(decoded(SYS_bind, 3, &address, offsetof(sockaddr_un, sun_path) + 4).path, "/a/s");
  EXPECT_EQ(decoded(SYS_bind, 3, &address, 2).op, Op::other) << "autobind";
  EXPECT_EQ(decoded(SYS_bind, 3, nullptr, sizeof address).op, Op::other);
  address.sun_path[0] = 0;
  EXPECT_EQ(decoded(SYS_bind, 3, &address, sizeof address).op, Op::other) << "abstract";
  address.sun_family = AF_INET;
  EXPECT_EQ(decoded(SYS_bind, 3, &address, sizeof address).op, Op::other);
}

TEST(Decode, Attributes) {
  Call call = decoded(SYS_setxattr, "/a/b", "user.x", "1", 1, 0);
  EXPECT_EQ(call.op, Op::attribute);
  EXPECT_EQ(call.path, "/a/b");
  EXPECT_TRUE(call.follows);
  EXPECT_EQ(call.detail, "user.x");
  EXPECT_FALSE(decoded(SYS_lremovexattr, "/a/b", "user.x").follows);
  call = decoded(SYS_fremovexattr, 5, "user.x");
  EXPECT_EQ(call.fd, 5);
  EXPECT_EQ(call.detail, "removed user.x");
}

TEST(Decode, AnUnreadableArgumentIsAnEmptyPath) {
  EXPECT_EQ(decoded(SYS_open, std::uint64_t{8}, O_RDONLY).path, "");
  EXPECT_EQ(decoded(SYS_rename, "a", std::uint64_t{8}).path, "a");
  EXPECT_EQ(decoded(SYS_open, ~0ULL, O_RDONLY).path, "");
}

// Every row names what it is about: a row that forgot its arguments would be invisible.
TEST(CallTable, RowsAreComplete) {
  for (const CallRow& row : call_table()) {
    EXPECT_EQ(find_call(row.number), &row);
    EXPECT_STRNE(row.name, "");
    EXPECT_NE(row.op, Op::other) << row.name;
    if (row.directory >= 0) {
      EXPECT_EQ(row.path, row.directory + 1) << row.name;
    }
    const bool two = row.op == Op::rename || row.op == Op::link || row.op == Op::symlink;
    EXPECT_EQ(row.path2 >= 0, two) << row.name;
    const bool alone = row.op == Op::sleep || row.op == Op::timer || row.op == Op::clock || row.op == Op::trace ||
                       row.op == Op::bypass || row.op == Op::kill || row.op == Op::close || row.number == SYS_bind;
    EXPECT_TRUE(alone || row.path >= 0 || row.fd >= 0) << row.name;
  }
  EXPECT_EQ(find_call(~0ULL), nullptr);
  EXPECT_EQ(find_call(SYS_read), nullptr);
}

class Pages : public ::testing::Test {
 protected:
  // One page that is there and one that is not.
  void SetUp() override {
    at = static_cast<char*>(::mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(at, MAP_FAILED);
    ASSERT_EQ(::munmap(at + 4096, 4096), 0);
  }
  void TearDown() override { ::munmap(at, 4096); }
  char* at = nullptr;
  TraceeMemory memory{::getpid()};
};

TEST_F(Pages, AStringMayEndAtTheLastByteThatIsThere) {
  std::memcpy(at + 4096 - 4, "abc", 4);
  EXPECT_EQ(memory.read_string(word(at + 4096 - 4)).value(), "abc");
  std::memcpy(at + 4096 - 3, "abc", 3);
  const auto cut = memory.read_string(word(at + 4096 - 3));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, EFAULT);
}

TEST_F(Pages, ReadsAndWritesWholeOrNot) {
  const std::uint64_t value = 0x1122334455667788;
  ASSERT_TRUE(memory.write(word(at + 8), &value, sizeof value));
  std::uint64_t back = 0;
  ASSERT_TRUE(memory.read(word(at + 8), &back, sizeof back));
  EXPECT_EQ(back, value);
  EXPECT_EQ(memory.read(word(at + 4096 - 4), &back, sizeof back).error().code, EFAULT);
  EXPECT_EQ(memory.write(word(at + 4096), &value, sizeof value).error().code, EFAULT);
}

TEST(TraceeMemory, APathHasAnEnd) {
  std::string longest(PATH_MAX - 1, 'x');
  const TraceeMemory memory(::getpid());
  EXPECT_EQ(memory.read_string(word(longest.c_str())).value(), longest);
  longest += 'x';
  EXPECT_EQ(memory.read_string(word(longest.c_str())).error().code, ENAMETOOLONG);
}

}  // namespace
}  // namespace jitrace
