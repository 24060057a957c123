#include "trace/call_table.h"

#include <linux/audit.h>

#include <algorithm>

namespace jitrace {
namespace {

// x86-64. Numbers, since they never change and older headers lack the newest of them. clone and exit are not
// here: ptrace tells of those. exec is: ptrace tells of it when it is done. What only moves data between pipes and memory (tee, vmsplice) changes no file.
constexpr CallRow x86_64[] = {
    {.number = 1, .name = "write", .op = Op::write, .fd = 0, .size = 2},
    {.number = 2, .name = "open", .op = Op::open, .follow = Follow::by_open_flags, .path = 0, .flags = 1},
    {.number = 3, .name = "close", .op = Op::close, .fd = 0},
    {.number = 4, .name = "stat", .op = Op::stat, .path = 0},
    {.number = 6, .name = "lstat", .op = Op::stat, .follow = Follow::no, .path = 0},
    {.number = 9, .name = "mmap", .op = Op::map, .when = When::shared_file, .fd = 4, .flags = 2, .size = 1},
    {.number = 16, .name = "ioctl", .op = Op::copy, .when = When::clone_command, .fd = 0, .flags = 1},
    {.number = 18, .name = "pwrite64", .op = Op::write, .fd = 0, .size = 2},
    {.number = 20, .name = "writev", .op = Op::write, .fd = 0},
    {.number = 21, .name = "access", .op = Op::access, .path = 0},
    {.number = 35, .name = "nanosleep", .op = Op::sleep},
    {.number = 36, .name = "getitimer", .op = Op::timer},
    {.number = 37, .name = "alarm", .op = Op::timer},
    {.number = 38, .name = "setitimer", .op = Op::timer},
    {.number = 40, .name = "sendfile", .op = Op::copy, .fd = 0, .size = 3},
    {.number = 49, .name = "bind", .op = Op::make_node, .follow = Follow::no},  // its path: decode.cc
    {.number = 59, .name = "execve", .op = Op::exec, .path = 0},
    {.number = 62, .name = "kill", .op = Op::kill, .flags = 1},
    {.number = 72, .name = "fcntl", .op = Op::range_lock, .when = When::lock_command, .fd = 0, .flags = 1},
    {.number = 73, .name = "flock", .op = Op::flock, .fd = 0, .flags = 1},
    {.number = 74, .name = "fsync", .op = Op::sync, .fd = 0},
    {.number = 75, .name = "fdatasync", .op = Op::sync, .fd = 0},
    {.number = 76, .name = "truncate", .op = Op::truncate, .path = 0, .size = 1},
    {.number = 77, .name = "ftruncate", .op = Op::truncate, .fd = 0, .size = 1},
    {.number = 78, .name = "getdents", .op = Op::list, .fd = 0},
    {.number = 82, .name = "rename", .op = Op::rename, .follow = Follow::no, .path = 0, .path2 = 1},
    {.number = 83, .name = "mkdir", .op = Op::make_dir, .follow = Follow::no, .path = 0},
    {.number = 84, .name = "rmdir", .op = Op::remove_dir, .follow = Follow::no, .path = 0},
    {.number = 85, .name = "creat", .op = Op::open, .path = 0},
    {.number = 86, .name = "link", .op = Op::link, .follow = Follow::no, .path = 0, .path2 = 1},
    {.number = 87, .name = "unlink", .op = Op::unlink, .follow = Follow::no, .path = 0},
    {.number = 88, .name = "symlink", .op = Op::symlink, .follow = Follow::no, .path = 0, .path2 = 1},
    {.number = 89, .name = "readlink", .op = Op::read_link, .follow = Follow::no, .path = 0},
    {.number = 90, .name = "chmod", .op = Op::mode, .path = 0},
    {.number = 91, .name = "fchmod", .op = Op::mode, .fd = 0},
    {.number = 92, .name = "chown", .op = Op::mode, .path = 0},
    {.number = 93, .name = "fchown", .op = Op::mode, .fd = 0},
    {.number = 94, .name = "lchown", .op = Op::mode, .follow = Follow::no, .path = 0},
    {.number = 96, .name = "gettimeofday", .op = Op::clock, .when = When::with_clocks},
    {.number = 101, .name = "ptrace", .op = Op::trace, .when = When::trace_request, .flags = 0},
    {.number = 132, .name = "utime", .op = Op::times, .path = 0},
    {.number = 133, .name = "mknod", .op = Op::make_node, .follow = Follow::no, .path = 0},
    {.number = 155, .name = "pivot_root", .op = Op::bypass, .path = 0},
    {.number = 161, .name = "chroot", .op = Op::bypass, .path = 0},
    {.number = 165, .name = "mount", .op = Op::bypass, .path = 1},
    {.number = 166, .name = "umount2", .op = Op::bypass, .path = 0},
    {.number = 188, .name = "setxattr", .op = Op::attribute, .path = 0},
    {.number = 189, .name = "lsetxattr", .op = Op::attribute, .follow = Follow::no, .path = 0},
    {.number = 190, .name = "fsetxattr", .op = Op::attribute, .fd = 0},
    {.number = 197, .name = "removexattr", .op = Op::attribute, .path = 0},
    {.number = 198, .name = "lremovexattr", .op = Op::attribute, .follow = Follow::no, .path = 0},
    {.number = 199, .name = "fremovexattr", .op = Op::attribute, .fd = 0},
    {.number = 200, .name = "tkill", .op = Op::kill, .flags = 1},
    {.number = 201, .name = "time", .op = Op::clock, .when = When::with_clocks},
    {.number = 209, .name = "io_submit", .op = Op::bypass},
    {.number = 217, .name = "getdents64", .op = Op::list, .fd = 0},
    {.number = 222, .name = "timer_create", .op = Op::timer},
    {.number = 223, .name = "timer_settime", .op = Op::timer},
    {.number = 224, .name = "timer_gettime", .op = Op::timer},
    {.number = 226, .name = "timer_delete", .op = Op::timer},
    {.number = 228, .name = "clock_gettime", .op = Op::clock, .when = When::with_clocks},
    {.number = 230, .name = "clock_nanosleep", .op = Op::sleep, .flags = 1},
    {.number = 234, .name = "tgkill", .op = Op::kill, .flags = 2},
    {.number = 235, .name = "utimes", .op = Op::times, .path = 0},
    {.number = 257, .name = "openat", .op = Op::open, .follow = Follow::by_open_flags, .directory = 0, .path = 1,
     .flags = 2},
    {.number = 258, .name = "mkdirat", .op = Op::make_dir, .follow = Follow::no, .directory = 0, .path = 1},
    {.number = 259, .name = "mknodat", .op = Op::make_node, .follow = Follow::no, .directory = 0, .path = 1},
    {.number = 260, .name = "fchownat", .op = Op::mode, .follow = Follow::unless_nofollow, .directory = 0, .path = 1,
     .flags = 4},
    {.number = 261, .name = "futimesat", .op = Op::times, .directory = 0, .path = 1},
    {.number = 262, .name = "newfstatat", .op = Op::stat, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 3},
    {.number = 263, .name = "unlinkat", .op = Op::unlink, .follow = Follow::no, .directory = 0, .path = 1,
     .flags = 2},
    {.number = 264, .name = "renameat", .op = Op::rename, .follow = Follow::no, .directory = 0, .path = 1,
     .directory2 = 2, .path2 = 3},
    {.number = 265, .name = "linkat", .op = Op::link, .follow = Follow::if_follow, .directory = 0, .path = 1,
     .directory2 = 2, .path2 = 3, .flags = 4},
    {.number = 266, .name = "symlinkat", .op = Op::symlink, .follow = Follow::no, .path = 0, .directory2 = 1,
     .path2 = 2},
    {.number = 267, .name = "readlinkat", .op = Op::read_link, .follow = Follow::no, .directory = 0, .path = 1},
    {.number = 268, .name = "fchmodat", .op = Op::mode, .directory = 0, .path = 1},
    {.number = 269, .name = "faccessat", .op = Op::access, .directory = 0, .path = 1},
    {.number = 275, .name = "splice", .op = Op::copy, .fd = 2, .size = 4},
    {.number = 280, .name = "utimensat", .op = Op::times, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 3},
    {.number = 285, .name = "fallocate", .op = Op::allocate, .fd = 0, .flags = 1, .size = 3},
    {.number = 286, .name = "timerfd_settime", .op = Op::timer, .fd = 0},
    {.number = 296, .name = "pwritev", .op = Op::write, .fd = 0},
    {.number = 304, .name = "open_by_handle_at", .op = Op::bypass, .flags = 2},
    {.number = 308, .name = "setns", .op = Op::bypass, .fd = 0},
    {.number = 311, .name = "process_vm_writev", .op = Op::bypass},
    {.number = 316, .name = "renameat2", .op = Op::rename, .follow = Follow::no, .directory = 0, .path = 1,
     .directory2 = 2, .path2 = 3, .flags = 4},
    {.number = 317, .name = "seccomp", .op = Op::trace, .when = When::listener, .flags = 1},
    {.number = 326, .name = "copy_file_range", .op = Op::copy, .fd = 2, .size = 4},
    {.number = 328, .name = "pwritev2", .op = Op::write, .fd = 0},
    {.number = 332, .name = "statx", .op = Op::stat, .follow = Follow::unless_nofollow, .directory = 0, .path = 1,
     .flags = 2},
    {.number = 424, .name = "pidfd_send_signal", .op = Op::kill, .fd = 0, .flags = 1},
    {.number = 425, .name = "io_uring_setup", .op = Op::bypass},
    {.number = 426, .name = "io_uring_enter", .op = Op::bypass},
    {.number = 428, .name = "open_tree", .op = Op::bypass, .directory = 0, .path = 1, .flags = 2},
    {.number = 429, .name = "move_mount", .op = Op::bypass, .directory = 2, .path = 3},
    {.number = 436, .name = "close_range", .op = Op::close},
    {.number = 437, .name = "openat2", .op = Op::open, .follow = Follow::by_open_flags, .directory = 0, .path = 1},
    {.number = 439, .name = "faccessat2", .op = Op::access, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 3},
    {.number = 452, .name = "fchmodat2", .op = Op::mode, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 3},
    {.number = 463, .name = "setxattrat", .op = Op::attribute, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 2},
    {.number = 466, .name = "removexattrat", .op = Op::attribute, .follow = Follow::unless_nofollow, .directory = 0,
     .path = 1, .flags = 2},
};

static_assert(std::ranges::is_sorted(x86_64, {}, &CallRow::number));

}  // namespace

std::uint32_t call_table_architecture() { return AUDIT_ARCH_X86_64; }

std::span<const CallRow> call_table() { return x86_64; }

const CallRow* find_call(std::uint64_t number) {
  const auto* row = std::ranges::lower_bound(x86_64, number, {}, &CallRow::number);
  return row != std::end(x86_64) && row->number == number ? row : nullptr;
}

}  // namespace jitrace
