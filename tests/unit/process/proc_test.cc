#include "process/proc.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <tuple>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Proc, StatOfOurselves) {
  const auto stat = proc_stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, ::getpid());
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(stat->state, 'R');
  EXPECT_GT(stat->start_ticks, 0u);
  EXPECT_FALSE(proc_stat(0x3ffffff));
}

TEST(Proc, StatOfAHostileName) {
  const TempDir dir = scratch();
  // What a process is called can look like the rest of the line.
  const std::string name = join(dir.path(), ") Z 1 (a) b");
  ASSERT_TRUE(copy_file(program("ignore_sigterm"), name));
  Ready ready(dir.path());
  auto child = Process::spawn(command({name, ready.path()}));
  ASSERT_TRUE(child);
  ASSERT_TRUE(ready.wait());
  const auto stat = proc_stat(child->pid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getpid());
  EXPECT_NE(stat->state, 'Z');
  EXPECT_LT(stat->cpu_ticks, 1000u);
  EXPECT_GE(stat->start_ticks, proc_stat(::getpid())->start_ticks);
}

TEST(Proc, CpuTicksGrow) {
  const auto before = proc_stat(::getpid())->cpu_ticks;
  const Nanoseconds deadline = now() + seconds(10);
  while (proc_stat(::getpid())->cpu_ticks < before + 2) ASSERT_LT(now(), deadline);
}

TEST(Proc, ArgumentsAndWaitChannel) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  auto child = Process::spawn(command({program("ignore_sigterm"), ready.path(), "a b"}));
  ASSERT_TRUE(child);
  ASSERT_TRUE(ready.wait());
  EXPECT_EQ(proc_arguments(child->pid()), program("ignore_sigterm") + " " + ready.path() + " a b");
  auto long_one = Process::spawn(command({"/bin/sleep", "1000", std::string(10'000, '0')}));
  ASSERT_TRUE(long_one);
  EXPECT_LE(proc_arguments(long_one->pid()).size(), 4096u);
  EXPECT_EQ(proc_arguments(0x3ffffff), "");
  EXPECT_EQ(proc_wait_channel(0x3ffffff), "");
}

TEST(Proc, AZombieHasANameStill) {
  auto child = Process::spawn(command({program("do_nothing")}));
  ASSERT_TRUE(child);
  pollfd ended{child->pidfd().get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 20'000), 1);
  EXPECT_EQ(proc_stat(child->pid())->state, 'Z');
  EXPECT_EQ(proc_arguments(child->pid()), "[do_nothing]");
}

TEST(Proc, ChildrenAndDescendants) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  // Each shell waits for the next.
  auto child = Process::spawn(
      command({"/bin/sh", "-c", "sh -c '" + program("ignore_sigterm") + " " + ready.path() + "; :'; :"}));
  ASSERT_TRUE(child);
  ASSERT_TRUE(ready.wait());
  EXPECT_THAT(proc_children(::getpid()), ::testing::ElementsAre(child->pid()));
  const auto below = proc_descendants(::getpid());
  ASSERT_EQ(below.size(), 3u);
  EXPECT_EQ(below[0], child->pid());
  EXPECT_EQ(proc_stat(below[1])->parent, below[0]);
  EXPECT_EQ(proc_stat(below[2])->parent, below[1]);
  EXPECT_THAT(proc_arguments(below[2]), HasSubstr("ignore_sigterm"));
  for (const pid_t pid : below) EXPECT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_TRUE(child->wait());
}

TEST(Proc, DescriptorsAreListedWithTheirPaths) {
  const TempDir dir = scratch();
  const Fd file = std::move(open_fd(join(dir.path(), "open file"), O_RDWR | O_CREAT).value());
  const auto lines = proc_descriptors(::getpid());
  EXPECT_THAT(lines, Contains(::testing::StartsWith(std::to_string(file.get()) + " -> " +
                                                    join(dir.path(), "open file") + " (")));
  EXPECT_TRUE(proc_descriptors(0x3ffffff).empty());
}

TEST(Proc, FindsByAWholeAssignment) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  const std::string name = "JITRACE_FIND" + std::to_string(::getpid());
  const auto start = [&](std::vector<std::string> environment) {
    Command c = command({program("ignore_sigterm"), ready.path()});
    c.environment = std::move(environment);
    return std::move(Process::spawn(c).value());
  };
  const Process first = start({name + "=a", "Z=1"});
  const Process last = start({"Z=1", name + "=a"});
  const Process longer = start({name + "=ab"});
  const Process other = start({"X" + name + "=a", "Y=" + name + "=a"});
  ASSERT_TRUE(ready.wait(4));
  EXPECT_THAT(find_by_environment(name + "=a"), ::testing::UnorderedElementsAre(first.pid(), last.pid()));
  EXPECT_THAT(find_by_environment(name + "=ab"), ::testing::ElementsAre(longer.pid()));
  EXPECT_TRUE(find_by_environment(name + "=").empty());
}

TEST(Proc, PidfdsAndSignals) {
  auto child = Process::spawn(command({"/bin/sleep", "1000"}));
  ASSERT_TRUE(child);
  const auto pidfd = open_pidfd(child->pid());
  ASSERT_TRUE(pidfd);
  EXPECT_TRUE(send_signal(*pidfd, SIGUSR1));
  EXPECT_TRUE(child->wait()->is_kill(SIGUSR1));
  EXPECT_EQ(send_signal(*pidfd, SIGKILL).error().code, ESRCH);
  EXPECT_EQ(open_pidfd(0x3ffffff).error().code, ESRCH);
}

TEST(Proc, StatusIsReadByItsLines) {
  const ProcStatus status("Name:\tState: x\nState:\tS (sleeping)\nTgid:\t12\nUid:\t0\t1\t0\t0\nvoluntary_ctxt_switches:\t4\n"
                          "nonvoluntary_ctxt_switches:\t7\nEmpty:\nLast:\tend");
  EXPECT_EQ(status.field("Name"), "State: x");
  EXPECT_EQ(status.state(), 'S');
  EXPECT_EQ(status.field("Uid"), "0\t1\t0\t0");
  EXPECT_EQ(status.field("voluntary_ctxt_switches"), "4") << "and not the tail of another name";
  EXPECT_EQ(status.field("nonvoluntary_ctxt_switches"), "7");
  EXPECT_EQ(status.field("Empty"), "");
  EXPECT_EQ(status.field("Last"), "end");
  EXPECT_EQ(status.field("gid"), "");
  EXPECT_EQ(ProcStatus("").state(), '?');
  EXPECT_EQ(proc_status(::getpid()).field("Tgid"), std::to_string(::getpid()));
  EXPECT_EQ(proc_status(0x3ffffff).state(), '?');
}

struct KindOfLock {
  const char* argument;
  const char* listed;
};

// The whole machine's locks are listed, and another file system has the same inode numbers.
bool is_of(const HeldLock& lock, const struct stat& file) {
  return lock.inode == file.st_ino && lock.device_major == major(file.st_dev) && lock.device_minor == minor(file.st_dev);
}

class ProcLocks : public ::testing::TestWithParam<KindOfLock> {};

TEST_P(ProcLocks, AreListedByFile) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  const std::string file = join(dir.path(), "lock");
  auto holder = Process::spawn(command({program("hold_lock"), GetParam().argument, file, ready.path()}));
  ASSERT_TRUE(holder);
  ASSERT_TRUE(ready.wait());
  struct stat s {};
  ASSERT_EQ(::stat(file.c_str(), &s), 0);
  const auto locks_of_file = [&] {
    auto locks = proc_locks();
    std::erase_if(locks, [&](const HeldLock& lock) { return !is_of(lock, s); });
    return locks;
  };
  const auto locks = locks_of_file();
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks[0].kind, GetParam().listed);
  EXPECT_FALSE(locks[0].waiting);
  EXPECT_EQ(locks[0].pid, std::string(GetParam().listed) == "OFDLCK" ? -1 : holder->pid());

  ASSERT_TRUE(holder->signal(SIGKILL));
  ASSERT_TRUE(holder->wait());
  EXPECT_TRUE(locks_of_file().empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProcLocks,
                         ::testing::Values(KindOfLock{"flock", "FLOCK"}, KindOfLock{"posix", "POSIX"},
                                           KindOfLock{"ofd", "OFDLCK"}),
                         [](const auto& kind) { return std::string(kind.param.argument); });

TEST(Proc, ALockOfSomeBytesSaysWhich) {
  const TempDir dir = scratch();
  const auto fd = open_fd(join(dir.path(), "lock"), O_RDWR | O_CREAT);
  ASSERT_TRUE(fd);
  for (const auto& [type, start, length] : {std::tuple{F_RDLCK, 10, 5}, std::tuple{F_WRLCK, 100, 0}}) {
    struct flock range {};
    range.l_type = static_cast<short>(type);
    range.l_whence = SEEK_SET;
    range.l_start = start;
    range.l_len = length;
    ASSERT_EQ(::fcntl(fd->get(), F_OFD_SETLK, &range), 0);
  }
  struct stat s {};
  ASSERT_EQ(::fstat(fd->get(), &s), 0);
  auto locks = proc_locks();
  std::erase_if(locks, [&](const HeldLock& lock) { return !is_of(lock, s); });
  ASSERT_EQ(locks.size(), 2u);
  if (locks[0].begin != 10) std::swap(locks[0], locks[1]);
  EXPECT_EQ(locks[0].access, HeldLock::Access::read);
  EXPECT_EQ(locks[0].begin, 10u);
  EXPECT_EQ(locks[0].end, 14u);
  EXPECT_EQ(locks[1].access, HeldLock::Access::write);
  EXPECT_EQ(locks[1].begin, 100u);
  EXPECT_EQ(locks[1].end, ~std::uint64_t{0});
}

TEST(Proc, WaitersForALockAreListedAsWaiting) {
  const TempDir dir = scratch();
  const std::string file = join(dir.path(), "lock");
  const Fd held = std::move(open_fd(file, O_RDWR | O_CREAT).value());
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  auto waiter = Process::spawn(command({"flock", file, "true"}));
  ASSERT_TRUE(waiter);
  struct stat s {};
  ASSERT_EQ(::fstat(held.get(), &s), 0);
  const Nanoseconds deadline = now() + seconds(20);
  for (;;) {
    ASSERT_LT(now(), deadline);
    const auto locks = proc_locks();
    const auto waits = [&](const HeldLock& lock) { return lock.inode == s.st_ino && lock.waiting; };
    const auto found = std::find_if(locks.begin(), locks.end(), waits);
    if (found == locks.end()) continue;
    EXPECT_EQ(found->pid, waiter->pid());
    EXPECT_EQ(found->kind, "FLOCK");
    return;
  }
}

}  // namespace
}  // namespace jitrace
