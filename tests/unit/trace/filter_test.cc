#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "trace/call_table.h"
#include "trace/decode.h"
#include "trace/tracee_memory.h"
#include "unit/trace/seized.h"

namespace jitrace {
namespace {

struct Answer {
  std::uint32_t action = 0;
  int steps = 0;
};

// What the kernel would make of the program, for the few instructions that it has.
std::optional<Answer> interpret(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  int steps = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& op = program[at];
    ++steps;
    const auto jump = [&](bool holds) { at += holds ? op.jt : op.jf; };
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (op.k + 4 > sizeof data) return std::nullopt;
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + op.k, 4);
        break;
      case BPF_JMP | BPF_JEQ | BPF_K: jump(accumulator == op.k); break;
      case BPF_JMP | BPF_JGE | BPF_K: jump(accumulator >= op.k); break;
      case BPF_JMP | BPF_JSET | BPF_K: jump((accumulator & op.k) != 0); break;
      case BPF_RET | BPF_K: return Answer{op.k, steps};
      default: return std::nullopt;
    }
  }
  return std::nullopt;  // ran off the end
}

Answer ask(Stops stops, std::int64_t number, const std::vector<std::uint64_t>& args = {},
           std::uint32_t arch = AUDIT_ARCH_X86_64) {
  static const std::map<Stops, std::vector<sock_filter>> programs = {
      {Stops::files, build_filter(Stops::files)}, {Stops::files_and_clocks, build_filter(Stops::files_and_clocks)}};
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = arch;
  for (std::size_t i = 0; i < args.size(); ++i) data.args[i] = args[i];
  const auto answer = interpret(programs.at(stops), data);
  EXPECT_TRUE(answer) << "call " << number << " has no answer";
  return answer.value_or(Answer{});
}

constexpr std::uint32_t stop = SECCOMP_RET_TRACE, pass = SECCOMP_RET_ALLOW;

TEST(Filter, StopsTheCallsOfTheTableAndNoOther) {
  std::set<std::uint32_t> always, by_flags, clocks;
  for (const CallRow& row : call_table()) {
    (row.when == When::always ? always : row.when == When::with_clocks ? clocks : by_flags).insert(row.number);
  }
  EXPECT_GT(always.size(), 70U);
  EXPECT_EQ(clocks, (std::set<std::uint32_t>{SYS_gettimeofday, SYS_time, SYS_clock_gettime}));
  int most = 0;
  for (std::uint32_t number = 0; number < 1000; ++number) {
    if (by_flags.contains(number)) continue;
    const Answer files = ask(Stops::files, number);
    most = std::max(most, files.steps);
    EXPECT_EQ(files.action, always.contains(number) ? stop : pass) << name_of_call(number);
    const bool with_clocks = always.contains(number) || clocks.contains(number);
    EXPECT_EQ(ask(Stops::files_and_clocks, number).action, with_clocks ? stop : pass) << name_of_call(number);
  }
  EXPECT_LE(most, 16) << "calls outside of the table pay for those in it";
}

TEST(Filter, TellsCallsOfAnotherArchitecture) {
  EXPECT_EQ(ask(Stops::files, 20, {}, AUDIT_ARCH_I386).action, stop | foreign_call);
  EXPECT_EQ(ask(Stops::files, 0x40000000 | SYS_getpid).action, stop | foreign_call);
  EXPECT_EQ(ask(Stops::files, -1).action, pass);  // no call at all: ENOSYS is the kernel's to say
}

// One answer for both: what the filter lets through for its flags, the decoder calls `other`.
void expect_both(std::uint64_t number, const std::vector<std::uint64_t>& args, bool stops) {
  const Answer answer = ask(Stops::files, static_cast<std::int64_t>(number), args);
  EXPECT_EQ(answer.action, stops ? stop : pass) << name_of_call(number);
  RawCall raw{number, {}};
  std::copy(args.begin(), args.end(), raw.args.begin());
  EXPECT_EQ(decode(raw, TraceeMemory(::getpid())).op != Op::other, stops) << name_of_call(number);
}

TEST(Filter, FlagsDecide) {
  const std::uint64_t rw = PROT_READ | PROT_WRITE;
  expect_both(SYS_mmap, {0, 4096, rw, MAP_SHARED, 3, 0}, true);
  expect_both(SYS_mmap, {0, 4096, PROT_WRITE, MAP_SHARED_VALIDATE, 3, 0}, true);
  expect_both(SYS_mmap, {0, 4096, rw, MAP_PRIVATE, 3, 0}, false);
  expect_both(SYS_mmap, {0, 4096, PROT_READ, MAP_SHARED, 3, 0}, true);  // mprotect may come
  expect_both(SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE, 3, 0}, false);
  expect_both(SYS_mmap, {0, 4096, rw, MAP_SHARED | MAP_ANONYMOUS, ~0ULL, 0}, false);
  for (const int command : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW}) {
    expect_both(SYS_fcntl, {3, static_cast<std::uint64_t>(command)}, true);
  }
  for (const int command : {F_GETLK, F_OFD_GETLK, F_GETFD, F_SETFD, F_DUPFD_CLOEXEC, F_SETFL}) {
    expect_both(SYS_fcntl, {3, static_cast<std::uint64_t>(command)}, false);
  }
  expect_both(SYS_fcntl, {3, 0xdead00000000 | F_SETLKW}, true);  // the kernel looks at the low half only
  expect_both(SYS_ioctl, {3, FICLONE, 4}, true);
  expect_both(SYS_ioctl, {3, FICLONERANGE, 4}, true);
  expect_both(SYS_ioctl, {1, 0x5401 /* TCGETS */}, false);
  expect_both(SYS_ptrace, {PTRACE_TRACEME}, true);
  expect_both(SYS_ptrace, {PTRACE_SEIZE, 1}, true);
  expect_both(SYS_ptrace, {PTRACE_ATTACH, 1}, true);
  expect_both(SYS_ptrace, {PTRACE_PEEKDATA, 1}, false);
  expect_both(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}, true);
  expect_both(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}, false);
  expect_both(SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL, SECCOMP_FILTER_FLAG_NEW_LISTENER}, false);
}

void install(Stops stops) {
  std::vector<sock_filter> filter = build_filter(stops);
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(98);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(98);
}

TEST(Filter, TheKernelTakesItAndStopsWhereTheTableSays) {
  const Seized child(Seized::Waits::here, [](int) {
    install(Stops::files);
    for (int i = 0; i < 3; ++i) ::syscall(SYS_getpid);
    ::syscall(SYS_access, "/", F_OK);
    const long fd = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
    ::syscall(SYS_flock, fd, LOCK_EX);
    ::syscall(SYS_fcntl, fd, F_GETFD);
    struct flock lock {};
    lock.l_type = F_UNLCK;
    ::syscall(SYS_fcntl, fd, F_SETLK, &lock);
    char byte = 0;
    ::syscall(SYS_read, fd, &byte, 1);
    ::syscall(SYS_write, fd, &byte, 1);
    ::syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    timespec time{};
    ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    ::syscall(0x40000000 | SYS_getpid);
    return 7;
  });
  ASSERT_TRUE(WIFEXITED(child.status));
  EXPECT_EQ(WEXITSTATUS(child.status), 7);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (const auto& s : child.stops) seen.emplace_back(s.number, s.data);
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> wanted = {
      {SYS_access, 0}, {SYS_openat, 0}, {SYS_flock, 0}, {SYS_fcntl, 0}, {SYS_write, 0}, {SYS_mmap, 0},
      {0x40000000 | SYS_getpid, foreign_call}};
  EXPECT_EQ(seen, wanted);
}

TEST(Filter, ClocksStopOnRequest) {
  const Seized child(Seized::Waits::here, [](int) {
    install(Stops::files_and_clocks);
    timespec time{};
    for (int i = 0; i < 5; ++i) ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return 0;
  });
  EXPECT_EQ(child.count(SYS_clock_gettime), 5);
  EXPECT_EQ(child.stops.size(), 5U);
}

}  // namespace
}  // namespace jitrace
