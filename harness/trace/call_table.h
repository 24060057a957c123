#pragma once

#include <cstdint>
#include <span>

#include "trace/call.h"

namespace jitrace {

// When a call of the table stops, as far as its flags tell before anything of the process was read.
enum class When {
  always,
  with_clocks,      // only where clocks are watched
  shared_file,      // mmap of a file that others may see change: now, or once mprotect(2) lets it
  lock_command,     // fcntl
  clone_command,    // ioctl: FICLONE, FICLONERANGE
  trace_request,    // ptrace: the ways to become or to get a tracer
  listener,         // seccomp with SECCOMP_FILTER_FLAG_NEW_LISTENER
};

// Whether a symbolic link as the last component is followed.
enum class Follow { yes, no, by_open_flags, unless_nofollow, if_follow };

// One call of the table. An argument is named by its place in the call; -1 where the call has none such.
struct CallRow {
  std::uint32_t number = 0;
  const char* name = "";
  Op op = Op::other;
  When when = When::always;
  Follow follow = Follow::yes;
  int fd = -1;
  int directory = -1;
  int path = -1;
  int directory2 = -1;
  int path2 = -1;
  int flags = -1;
  int size = -1;
};

// The architecture that the table is for, as seccomp names it.
std::uint32_t call_table_architecture();
// Sorted by number.
std::span<const CallRow> call_table();
const CallRow* find_call(std::uint64_t number);

}  // namespace jitrace
