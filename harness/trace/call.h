#pragma once

#include <fcntl.h>

#include <array>
#include <cstdint>
#include <string>

namespace jitrace {

// What a scheduled system call is about. `other` is let through unseen; `bypass` can change files or wait for time on
// ways that are not followed (io_uring, process_vm_writev, mount, pivot_root, …): a trial that saw one says so.
enum class Op {
  other,
  open,        // open, openat, openat2, creat
  rename,
  link,
  symlink,
  unlink,
  make_dir,
  remove_dir,
  make_node,   // mknod, mknodat; bind of a socket that gets a name
  stat,        // stat family, statx; of a descriptor alone (fstat, an empty path) it is `other`
  access,
  read_link,
  list,        // getdents
  truncate,
  allocate,    // fallocate
  mode,        // chmod and chown family
  times,       // utimensat family
  attribute,   // setxattr and removexattr family
  copy,        // copy_file_range, sendfile, splice, FICLONE: `fd` is the target
  write,       // write family; `fd`
  close,
  sync,
  map,         // a shared mapping of a file that is open for writing
  flock,
  range_lock,  // fcntl, POSIX and OFD
  kill,        // kill, tgkill, tkill, pidfd_send_signal
  sleep,       // nanosleep, clock_nanosleep
  timer,       // sets, clears or asks for one: alarm, setitimer, timer_settime, timerfd_settime, …
  clock,       // clock_gettime, gettimeofday, time
  exec,        // execve, execveat: before it, nothing of the new program is there yet
  trace,       // ptrace, seccomp with a listener: the subject wants what we have
  bypass,      // with a path (mount, chroot) it is about that path
};

inline bool two_paths(Op op) { return op == Op::rename || op == Op::link || op == Op::symlink; }

// Number and arguments of a call, in the kernel's order, whatever the architecture.
struct RawCall {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> args{};
};

// What the call would do, as far as number, arguments and the caller's memory tell. Nothing is resolved yet.
struct Call {
  Op op = Op::other;
  const char* name = "";       // the kernel's: "openat"
  RawCall raw;
  int fd = -1;                 // the descriptor that it is about, if it names one
  int directory = AT_FDCWD;    // what `path` is relative to
  std::string path;            // as given; of rename and link the source; of symlink the link's content
  int directory2 = AT_FDCWD;
  std::string path2;           // the target of rename, link and symlink
  bool follows = true;         // a symbolic link as the last component of `path` is followed
  std::uint64_t flags = 0;     // O_*, LOCK_*, the fcntl command, PROT_* of a mapping, the signal
  std::uint64_t size = 0;      // bytes that a write or copy asks for; the length of truncate, fallocate and mmap
  std::string detail;          // flags that matter, in words: "O_WRONLY|O_CREAT|O_EXCL", "LOCK_EX", "F_OFD_SETLKW"
};

}  // namespace jitrace
