#pragma once

#include <linux/filter.h>

#include <string>
#include <string_view>
#include <vector>

#include "trace/call.h"
#include "trace/tracee_memory.h"

namespace jitrace {

// The one table of system calls is in call_table.cc (x86-64; another architecture is another table): filter and decoder
// are both made from it.

// Which calls stop. `clocks`: the reads of clocks too, for runs whose time may be shifted.
enum class Stops { files, files_and_clocks };

// Returns RET_TRACE for the calls of the table, by number and, where that is enough to leave one alone, by flags (an
// open for reading stops too: looking is a step; a private mapping, a fcntl that is no lock do not).
// RET_ALLOW for the rest; a call of another architecture (32 bit, x32) is RET_TRACE with data `foreign_call`. Ready for
// PR_SET_SECCOMP.
std::vector<sock_filter> build_filter(Stops stops);
inline constexpr unsigned foreign_call = 1;

// An unreadable argument gives a Call with an empty path: the kernel will answer EFAULT by itself.
Call decode(const RawCall& raw, const TraceeMemory& memory);

// The first word of such a call in a recording; empty: it stands in none.
std::string_view verb_of(Op op);
// Of a mapping: whether its file may be written by it, now or after an mprotect(2), which no stop tells of. Asked while the
// caller stands before the call.
bool may_write_through(const Call& map, pid_t thread);
// The kernel's name of a call of the table, else "call 451".
std::string name_of_call(std::uint64_t number);
// "O_WRONLY|O_CREAT|O_EXCL": access mode, and of the rest only what matters to others (CREAT EXCL TRUNC APPEND TMPFILE
// DIRECTORY NOFOLLOW).
std::string open_flags(std::uint64_t flags);

}  // namespace jitrace
