#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// Looks into /proc. Everything here is a snapshot: the process may be gone by the time the answer is used.

// A pidfd for a process that is not our child. Only safe for one that cannot end on its own right now (it waits at a
// gate), or whose start time is compared afterwards.
Result<Fd> open_pidfd(pid_t pid);
Result<void> send_signal(const Fd& pidfd, int number);  // ESRCH: it has ended

struct ProcStat {
  pid_t pid = -1;
  pid_t parent = -1;
  char state = '?';
  std::uint64_t cpu_ticks = 0;
  std::uint64_t start_ticks = 0;  // since boot: with the pid, names a process for ever
};
// /proc/TASK/status: a process, or one of its threads.
class ProcStatus {
 public:
  explicit ProcStatus(std::string text) : text_(std::move(text)) {}
  // What stands behind "NAME:", blanks around it left out; empty: no such line, or the task is gone.
  std::string field(std::string_view name) const;
  char state() const;  // 'R', 'S', 'D', 'Z', …; '?': it is gone

 private:
  std::string text_;
};
ProcStatus proc_status(pid_t task);
// Time on a CPU of a process's first thread, or of another by its number; nothing where the kernel does not count it.
std::optional<Nanoseconds> proc_cpu_time(pid_t task);
std::vector<pid_t> proc_all();                         // every process that /proc shows
std::optional<ProcStat> proc_stat(pid_t pid);
std::string proc_arguments(pid_t pid);                 // spaces between, cut at 4 KiB; "[name]" of a zombie
std::string proc_wait_channel(pid_t pid);
std::vector<pid_t> proc_children(pid_t pid);           // direct ones
// The same from task/*/children, which costs no look at every process; nothing where the kernel has no such file.
std::optional<std::vector<pid_t>> proc_listed_children(pid_t pid);
std::vector<pid_t> proc_descendants(pid_t pid);        // parents before children
// "3 -> /path (flags)" for every descriptor.
std::vector<std::string> proc_descriptors(pid_t pid);
// Every process whose environment has `NAME=value`, but for this one.
std::vector<pid_t> find_by_environment(const std::string& assignment);

// One line of /proc/locks.
struct HeldLock {
  std::string kind;      // FLOCK, POSIX, OFDLCK
  bool waiting = false;  // "->": it waits for the lock above
  pid_t pid = -1;        // -1 for OFD locks; for flock the process that took it, dead or not
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  enum class Access { read, write } access = Access::write;
  std::uint64_t begin = 0, end = ~std::uint64_t{0};  // bytes, both included; of a flock: all
  std::string line;
};
std::vector<HeldLock> proc_locks();

}  // namespace jitrace
