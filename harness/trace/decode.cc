#include "trace/decode.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <span>

#include "base/file.h"
#include "trace/call_table.h"

namespace jitrace {
namespace {

// iovecs beyond this the kernel refuses, too.
constexpr std::uint64_t iovec_limit = 1024;

struct Word {
  std::uint64_t bits;
  const char* name;
};

void add(std::string& text, std::string_view word) {
  if (!text.empty()) text += '|';
  text += word;
}

// The names of the bits that are set, in the order of the list.
std::string words(std::uint64_t flags, std::span<const Word> list) {
  std::string text;
  for (const Word& word : list) {
    if ((flags & word.bits) == word.bits) add(text, word.name);
  }
  return text;
}

constexpr Word lock_words[] = {{LOCK_SH, "LOCK_SH"}, {LOCK_EX, "LOCK_EX"}, {LOCK_UN, "LOCK_UN"}, {LOCK_NB, "LOCK_NB"}};
constexpr Word map_words[] = {{PROT_READ, "PROT_READ"}, {PROT_WRITE, "PROT_WRITE"}, {PROT_EXEC, "PROT_EXEC"}};
constexpr Word rename_words[] = {
    {RENAME_NOREPLACE, "RENAME_NOREPLACE"}, {RENAME_EXCHANGE, "RENAME_EXCHANGE"}, {RENAME_WHITEOUT, "RENAME_WHITEOUT"}};
constexpr Word allocate_words[] = {{FALLOC_FL_KEEP_SIZE, "KEEP_SIZE"}, {FALLOC_FL_PUNCH_HOLE, "PUNCH_HOLE"},
                                   {FALLOC_FL_COLLAPSE_RANGE, "COLLAPSE_RANGE"}, {FALLOC_FL_ZERO_RANGE, "ZERO_RANGE"},
                                   {FALLOC_FL_INSERT_RANGE, "INSERT_RANGE"}};

constexpr const char* signal_names[] = {
    "0",       "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",  "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",  "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",  "SIGPWR",  "SIGSYS"};

std::string signal_name(std::uint64_t number) {
  return number < std::size(signal_names) ? signal_names[number] : "signal " + std::to_string(number);
}

std::uint32_t low_half(std::uint64_t argument) { return static_cast<std::uint32_t>(argument); }
int as_int(std::uint64_t argument) { return static_cast<int>(low_half(argument)); }

std::string range_lock(const RawCall& raw, const TraceeMemory& memory) {
  const int command = as_int(raw.args[1]);
  std::string text = command == F_SETLK      ? "F_SETLK"
                     : command == F_SETLKW   ? "F_SETLKW"
                     : command == F_OFD_SETLK ? "F_OFD_SETLK"
                                              : "F_OFD_SETLKW";
  struct flock lock {};
  if (!memory.read(raw.args[2], &lock, sizeof lock)) return text;
  return text + (lock.l_type == F_RDLCK ? " F_RDLCK" : lock.l_type == F_WRLCK ? " F_WRLCK" : " F_UNLCK");
}

std::string duration(std::uint64_t address, const TraceeMemory& memory) {
  timespec time{};
  if (!memory.read(address, &time, sizeof time)) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%lld.%09ld s", static_cast<long long>(time.tv_sec), time.tv_nsec);
  return text;
}

std::string sleep_detail(const CallRow& row, const RawCall& raw, const TraceeMemory& memory) {
  if (row.flags < 0) return duration(raw.args[0], memory);
  const std::string time = duration(raw.args[2], memory);
  return (raw.args[1] & TIMER_ABSTIME) != 0 && !time.empty() ? "until " + time : time;
}

std::uint64_t iovec_bytes(const RawCall& raw, const TraceeMemory& memory) {
  iovec parts[iovec_limit];
  const std::uint64_t count = std::min(raw.args[2], iovec_limit);
  if (count == 0 || !memory.read(raw.args[1], parts, count * sizeof(iovec))) return 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += parts[i].iov_len;
  return sum;
}

std::string read_path(const RawCall& raw, int index, const TraceeMemory& memory) {
  if (index < 0) return {};
  auto text = memory.read_string(raw.args[static_cast<std::size_t>(index)]);
  return text ? std::move(*text) : std::string();
}

// Of a socket that gets a name in the file system; empty for all others.
std::string socket_path(const RawCall& raw, const TraceeMemory& memory) {
  sockaddr_un address{};
  const std::size_t size = std::min<std::size_t>(low_half(raw.args[2]), sizeof address);
  if (size <= offsetof(sockaddr_un, sun_path) || !memory.read(raw.args[1], &address, size)) return {};
  if (address.sun_family != AF_UNIX) return {};
  return {address.sun_path, ::strnlen(address.sun_path, size - offsetof(sockaddr_un, sun_path))};
}

std::uint64_t argument(const RawCall& raw, int index) { return raw.args[static_cast<std::size_t>(index)]; }

void read_open_flags(Call& call, const CallRow& row, const TraceeMemory& memory) {
  if (row.flags >= 0) return;
  if (row.follow != Follow::by_open_flags) {
    call.flags = O_CREAT | O_WRONLY | O_TRUNC;  // creat
    return;
  }
  open_how how{};
  const std::uint64_t given = call.raw.args[3];
  if (!memory.read(call.raw.args[2], &how, std::min<std::uint64_t>(given, sizeof how))) return;
  call.flags = how.flags;
  // The directory is the root of the path.
  if ((how.resolve & RESOLVE_IN_ROOT) != 0 && call.path.starts_with('/')) {
    call.path.erase(0, call.path.find_first_not_of('/'));
    if (call.path.empty()) call.path = ".";
  }
}

bool follows(const CallRow& row, std::uint64_t flags) {
  switch (row.follow) {
    case Follow::yes: return true;
    case Follow::no: return false;
    case Follow::by_open_flags:
      return (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    case Follow::unless_nofollow: return (flags & AT_SYMLINK_NOFOLLOW) == 0;
    case Follow::if_follow: return (flags & AT_SYMLINK_FOLLOW) != 0;
  }
  return true;
}

// Of a call that the filter lets through for its flags, so that who asks about one that it did not stop gets the truth.
bool matters(const CallRow& row, const RawCall& raw) {
  const std::uint32_t first = low_half(raw.args[0]), second = low_half(raw.args[1]);
  switch (row.when) {
    case When::always:
    case When::with_clocks: return true;
    case When::shared_file:
      return (raw.args[3] & MAP_SHARED) != 0 && (raw.args[3] & MAP_ANONYMOUS) == 0;
    case When::lock_command:
      return second == F_SETLK || second == F_SETLKW || second == F_OFD_SETLK || second == F_OFD_SETLKW;
    case When::clone_command: return second == FICLONE || second == FICLONERANGE;
    case When::trace_request: return first == PTRACE_TRACEME || first == PTRACE_ATTACH || first == PTRACE_SEIZE;
    case When::listener: return first == SECCOMP_SET_MODE_FILTER && (second & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
  }
  return true;
}

// fstat, futimens, fchmod by AT_EMPTY_PATH: the directory's place holds the descriptor that it is about.
void note_descriptor_alone(Call& call, const CallRow& row) {
  if (row.directory < 0 || !call.path.empty()) return;
  const bool no_path = argument(call.raw, row.path) == 0;
  const bool empty_is_meant = row.flags >= 0 && (call.flags & AT_EMPTY_PATH) != 0;
  if (!(empty_is_meant || (no_path && row.op == Op::times)) || call.directory == AT_FDCWD) return;
  call.fd = call.directory;
  if (call.op == Op::stat || call.op == Op::access) call.op = Op::other;
}

std::string detail_of(const Call& call, const CallRow& row, const TraceeMemory& memory) {
  const RawCall& raw = call.raw;
  if (call.op == Op::open) return open_flags(call.flags);
  if (call.op == Op::rename) return words(call.flags, rename_words);
  if (call.op == Op::map) return words(call.flags, map_words);
  if (call.op == Op::allocate) return words(call.flags, allocate_words);
  if (call.op == Op::flock) return words(call.flags, lock_words);
  if (call.op == Op::range_lock) return range_lock(raw, memory);
  if (call.op == Op::attribute) {
    const bool removes = std::strstr(row.name, "remove") != nullptr;
    return (removes ? "removed " : "") + read_path(raw, row.directory < 0 ? 1 : 3, memory);
  }
  if (call.op == Op::kill) return signal_name(call.flags);
  if (call.op == Op::sleep) return sleep_detail(row, raw, memory);
  if (row.when == When::clone_command) return low_half(raw.args[1]) == FICLONE ? "FICLONE" : "FICLONERANGE";
  if (row.when == When::trace_request) {
    const std::uint32_t request = low_half(raw.args[0]);
    return request == PTRACE_TRACEME ? "PTRACE_TRACEME" : request == PTRACE_ATTACH ? "PTRACE_ATTACH" : "PTRACE_SEIZE";
  }
  if (row.when == When::listener) return "SECCOMP_FILTER_FLAG_NEW_LISTENER";
  return {};
}

}  // namespace

std::string open_flags(std::uint64_t flags) {
  constexpr Word others[] = {{O_CREAT, "O_CREAT"},   {O_EXCL, "O_EXCL"},         {O_TRUNC, "O_TRUNC"},
                             {O_APPEND, "O_APPEND"}, {O_DIRECTORY, "O_DIRECTORY"}, {O_NOFOLLOW, "O_NOFOLLOW"}};
  std::string text = (flags & O_PATH) != 0                 ? "O_PATH"
                     : (flags & O_ACCMODE) == O_WRONLY     ? "O_WRONLY"
                     : (flags & O_ACCMODE) == O_RDWR       ? "O_RDWR"
                                                           : "O_RDONLY";
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    add(text, "O_TMPFILE");
    flags &= ~std::uint64_t{O_TMPFILE};  // it holds O_DIRECTORY
  }
  if (const std::string rest = words(flags, others); !rest.empty()) add(text, rest);
  return text;
}

std::string_view verb_of(Op op) {
  switch (op) {
    case Op::open: return "open";
    case Op::rename: return "rename";
    case Op::link: return "link";
    case Op::symlink: return "symlink";
    case Op::unlink: return "unlink";
    case Op::make_dir: return "mkdir";
    case Op::remove_dir: return "rmdir";
    case Op::make_node: return "make";
    case Op::stat: return "stat";
    case Op::access: return "access";
    case Op::read_link: return "readlink";
    case Op::list: return "list";
    case Op::truncate: return "truncate";
    case Op::allocate: return "allocate";
    case Op::mode: return "chmod";
    case Op::times: return "utime";
    case Op::attribute: return "xattr";
    case Op::copy: return "copy to";
    case Op::write: return "write";
    case Op::close: return "close";
    case Op::sync: return "fsync";
    case Op::map: return "map";
    case Op::flock: return "flock";
    case Op::range_lock: return "lock";
    case Op::other:
    case Op::kill:
    case Op::sleep:
    case Op::timer:
    case Op::clock:
    case Op::exec:
    case Op::trace:
    case Op::bypass: break;
  }
  return {};
}

Call decode(const RawCall& raw, const TraceeMemory& memory) {
  Call call;
  call.raw = raw;
  const CallRow* row = find_call(raw.number);
  if (row == nullptr) return call;
  call.name = row->name;
  if (!matters(*row, raw)) return call;
  call.op = row->op;
  if (row->fd >= 0) call.fd = as_int(argument(raw, row->fd));
  if (row->directory >= 0) call.directory = as_int(argument(raw, row->directory));
  if (row->directory2 >= 0) call.directory2 = as_int(argument(raw, row->directory2));
  if (row->flags >= 0) call.flags = low_half(argument(raw, row->flags));
  if (row->size >= 0) call.size = argument(raw, row->size);
  call.path = read_path(raw, row->path, memory);
  call.path2 = read_path(raw, row->path2, memory);
  if (call.op == Op::open) read_open_flags(call, *row, memory);
  if (call.op == Op::write && row->size < 0) call.size = iovec_bytes(raw, memory);
  if (call.op == Op::unlink && (call.flags & AT_REMOVEDIR) != 0) call.op = Op::remove_dir;
  if (call.op == Op::make_node && row->path < 0) {
    call.path = socket_path(raw, memory);
    if (call.path.empty()) call.op = Op::other;
  }
  call.follows = follows(*row, call.flags);
  note_descriptor_alone(call, *row);
  call.detail = detail_of(call, *row, memory);
  return call;
}

bool may_write_through(const Call& map, pid_t thread) {
  if ((map.flags & PROT_WRITE) != 0) return true;
  const auto info = read_file("/proc/" + std::to_string(thread) + "/fdinfo/" + std::to_string(map.fd));
  const std::size_t at = info ? info->find("flags:") : std::string::npos;
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info->c_str() + at + std::strlen("flags:"), nullptr, 8);
  return (flags & O_ACCMODE) == O_RDWR;
}

std::string name_of_call(std::uint64_t number) {
  const CallRow* row = find_call(number);
  return row != nullptr ? row->name : "call " + std::to_string(number);
}

}  // namespace jitrace
