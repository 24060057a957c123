#include "trace/tape_learner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "trace/tracee_memory.h"

namespace jitrace {
namespace {

constexpr std::uint64_t iovec_limit = 1024;

std::string link_of(const std::string& entry) {
  char target[PATH_MAX];
  const ssize_t n = ::readlink(entry.c_str(), target, sizeof target);
  return n < 0 ? std::string() : std::string(target, static_cast<std::size_t>(n));
}

std::string entry_of(pid_t thread, int fd) { return "/proc/" + std::to_string(thread) + "/fd/" + std::to_string(fd); }

std::string absolute(pid_t thread, int directory, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  return join(link_of(directory == AT_FDCWD ? "/proc/" + std::to_string(thread) + "/cwd" : entry_of(thread, directory)),
              path);
}

// What these show is the machine's or the process's own affair.
bool is_of_the_kernel(const std::string& path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/");
}

// Where the descriptor stands; -1 where it stands nowhere.
std::int64_t offset_of(pid_t thread, int fd) {
  const auto text = read_file("/proc/" + std::to_string(thread) + "/fdinfo/" + std::to_string(fd));
  return text && text->starts_with("pos:") ? std::strtoll(text->c_str() + 4, nullptr, 10) : -1;
}

std::string bytes_of(const Call& call, const TraceeMemory& memory) {
  if (call.raw.number == SYS_write || call.raw.number == SYS_pwrite64) {
    std::string bytes(call.size, '\0');
    return memory.read(call.raw.args[1], bytes.data(), bytes.size()) ? bytes : std::string();
  }
  iovec parts[iovec_limit];
  const std::uint64_t count = std::min(call.raw.args[2], iovec_limit);
  std::string bytes;
  if (count == 0 || !memory.read(call.raw.args[1], parts, count * sizeof(iovec))) return bytes;
  for (std::size_t i = 0; i < count; ++i) {
    std::string part(parts[i].iov_len, '\0');
    const auto at = reinterpret_cast<std::uint64_t>(parts[i].iov_base);
    if (!memory.read(at, part.data(), part.size())) return {};
    bytes += part;
  }
  return bytes;
}

// The argument that holds the mode that a call makes or asks for.
std::int64_t mode_of(const Call& call) {
  const auto argument = [&call](std::size_t index) { return static_cast<std::int64_t>(call.raw.args[index] & 07777); };
  switch (call.raw.number) {
    case SYS_openat: return argument(3);
    case SYS_open:
    case SYS_fchmodat:
    case SYS_mkdirat:
    case SYS_faccessat:
    case SYS_faccessat2: return argument(2);
    case SYS_creat:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_mkdir:
    case SYS_access: return argument(1);
    default: return -1;
  }
}

bool makes_anew(std::uint64_t flags) {
  return (flags & O_CREAT) != 0 && (flags & O_TRUNC) != 0 && (flags & O_EXCL) == 0;
}
bool writes(std::uint64_t flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0; }

}  // namespace

TapeLearner::TapeLearner(TapeKey key) : key_(std::move(key)) {
  tape_.names = key_.names;
  note_input(key_.program);
}

// A young file has no identity that would tell a change; its content does.
void TapeLearner::note_input(const std::string& path) {
  const auto [at, fresh] = inputs_.try_emplace(path);
  if (!fresh) return;
  at->second.identity = identity_of(path);
  if (!at->second.identity.empty()) return;
  const auto digest = digest_of(path, key_.names);
  if (digest) at->second.digest = *digest;
}

void TapeLearner::refuse(const std::string& why) {
  if (refused_.empty()) refused_ = why;
}

// What lies there before the program itself has had to do with it: it may go by that.
void TapeLearner::look(const Pending& pending, const std::string& path) {
  const bool matters = pending.call.op != Op::open || !makes_anew(pending.call.flags);
  if (key_.names.values().front().starts_with(path + "/")) return;  // the way to what differs from lane to lane
  if (path.empty() || is_of_the_kernel(path) || !seen_.insert(path).second || !matters) return;
  if (TapeNames::is_ambiguous(path)) refuse("a path reads like one of a tape: " + path);
  tape_.looks.push_back({key_.names.general(path), kind_of(path)});
}

void TapeLearner::before(pid_t thread, const Call& call) {
  if (!refused_.empty()) return;
  Pending pending;
  pending.call = call;
  switch (call.op) {
    case Op::other:
    case Op::clock:
    case Op::exec: return;
    case Op::open: {
      pending.path = absolute(thread, call.directory, call.path);
      look(pending, pending.path);
      pending.existed = kind_of(pending.path) == TapeLook::Kind::file;
      if ((call.flags & O_CREAT) != 0 && mode_of(call) < 0) refuse(std::string(call.name) + " that creates");
      break;
    }
    case Op::stat:
    case Op::access:
    case Op::read_link:
    case Op::unlink:
    case Op::remove_dir:
    case Op::make_dir:
      pending.path = absolute(thread, call.directory, call.path);
      look(pending, pending.path);
      break;
    case Op::rename:
      if (call.flags != 0) refuse("a rename with flags");
      pending.path = absolute(thread, call.directory, call.path);
      pending.path2 = absolute(thread, call.directory2, call.path2);
      look(pending, pending.path);
      look(pending, pending.path2);
      break;
    case Op::mode:
      if (mode_of(call) < 0) return refuse(call.name);
      if (call.fd >= 0)
        before_by_descriptor(thread, pending);
      else
        look(pending, pending.path = absolute(thread, call.directory, call.path));
      break;
    case Op::close:
    case Op::sync: before_by_descriptor(thread, pending); break;
    case Op::truncate:
      if (call.fd < 0) return refuse("a truncation by path");
      before_by_descriptor(thread, pending);
      break;
    case Op::write: before_write(thread, pending); break;
    case Op::list:
      if (!is_of_the_kernel(link_of(entry_of(thread, call.fd)) + "/")) refuse("it lists a directory");
      return;
    case Op::link:
    case Op::symlink:
    case Op::allocate:
    case Op::make_node:
    case Op::times:
    case Op::attribute:
    case Op::copy:
    case Op::map:
    case Op::flock:
    case Op::range_lock:
    case Op::kill:
    case Op::sleep:
    case Op::timer:
    case Op::trace:
    case Op::bypass: return refuse(call.name);
  }
  pending_[thread] = std::move(pending);
}

void TapeLearner::at_cache(pid_t thread) {
  const auto found = pending_.find(thread);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  pending.at_cache = true;
  if (pending.call.fd >= 0 && pending.handle < 0) refuse("a descriptor of the cache that no stop told of");
}

void TapeLearner::before_by_descriptor(pid_t thread, Pending& pending) {
  const int fd = pending.call.fd;
  const auto found = open_.find(fd);
  if (found == open_.end()) {
    if (fd <= 2) pending.handle = fd;
    return;
  }
  struct stat info {};
  const bool same =
      ::stat(entry_of(thread, fd).c_str(), &info) == 0 && File{info.st_dev, info.st_ino} == found->second.file;
  if (!same) return refuse("a descriptor that became another file's");
  pending.handle = found->second.handle;
}

void TapeLearner::before_write(pid_t thread, Pending& pending) {
  before_by_descriptor(thread, pending);
  if (pending.handle < 0) return refuse("a write through a descriptor that no stop told of");
  pending.bytes = bytes_of(pending.call, TraceeMemory(thread));
  if (pending.handle <= 2 || !open_[pending.call.fd].regular) return;
  const bool placed = pending.call.raw.number == SYS_pwrite64 || pending.call.raw.number == SYS_pwritev ||
                      pending.call.raw.number == SYS_pwritev2;
  pending.offset = placed ? static_cast<std::int64_t>(pending.call.raw.args[3]) : offset_of(thread, pending.call.fd);
}

void TapeLearner::after(pid_t thread, std::int64_t result) {
  const auto found = pending_.find(thread);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  if (!refused_.empty()) return;
  using To = TapeStep::Op;
  const Call& call = pending.call;
  if (call.op == Op::open) return opened(thread, pending, result);
  if (call.op == Op::write) return written(pending, result);
  if (call.op == Op::close) return closed(pending, result);
  if (call.op == Op::sync && pending.handle >= 0) add(To::sync, pending);
  if (call.op == Op::truncate) {
    if (pending.handle < 3 || result != 0) return refuse("a truncation that no tape can do");
    contents_[open_[call.fd].file].resize(call.size);
    add(To::truncate, pending, static_cast<std::int64_t>(call.size));
  }
  if (call.op == Op::mode) {
    if (call.fd >= 0 && pending.handle < 0) return refuse("a mode of a descriptor that no stop told of");
    add(call.fd >= 0 ? To::mode : To::mode_of_path, pending, mode_of(call));
  }
  if (call.op == Op::stat && pending.at_cache) add(call.follows ? To::stat : To::look, pending);
  if (call.op == Op::access && pending.at_cache) add(To::access, pending, mode_of(call));
  if (call.op == Op::read_link && pending.at_cache) add(To::read_link, pending);
  changed_names(pending, result);
}

void TapeLearner::closed(const Pending& pending, std::int64_t result) {
  const auto of = open_.find(pending.call.fd);
  const bool kept = of != open_.end() && of->second.kept;
  if (kept || (pending.at_cache && pending.handle >= 0)) add(TapeStep::Op::close, pending);
  if (of != open_.end() && result == 0) open_.erase(of);
}

void TapeLearner::opened(pid_t thread, const Pending& pending, std::int64_t result) {
  const std::uint64_t flags = pending.call.flags;
  Pending done = pending;
  if (result < 0) {
    if (pending.at_cache) add(TapeStep::Op::open, done, static_cast<std::int64_t>(flags), mode_of(pending.call));
    return;
  }
  struct stat info {};
  const int fd = static_cast<int>(result);
  if (::stat(entry_of(thread, fd).c_str(), &info) != 0) return refuse("an open file that cannot be looked at");
  Open open;
  open.handle = done.handle = next_handle_++;
  open.file = {info.st_dev, info.st_ino};
  open.regular = S_ISREG(info.st_mode);
  open.kept = pending.at_cache || writes(flags) || (open.regular && !is_of_the_kernel(pending.path));
  if (open.regular && !is_of_the_kernel(pending.path)) {
    const bool own = contents_.contains(open.file);
    const bool fresh = (flags & O_TRUNC) != 0 || !pending.existed;
    if (!writes(flags) && !own) note_input(pending.path);
    if (writes(flags)) {
      if (fresh)
        contents_[open.file].clear();
      else if (!own)
        return refuse("it changes a file in place");
      outputs_[pending.path] = open.file;
    }
  }
  if (open.kept) add(TapeStep::Op::open, done, static_cast<std::int64_t>(flags), mode_of(pending.call));
  open_[fd] = open;
}

void TapeLearner::written(const Pending& pending, std::int64_t result) {
  if (result < 0) return refuse("a write that failed");
  const auto count = static_cast<std::size_t>(result);
  if (count > pending.bytes.size()) return refuse("a write whose bytes could not be read");
  const std::string bytes = pending.bytes.substr(0, count);
  tape_.written[pending.handle] += bytes;
  add(TapeStep::Op::write, pending, pending.offset, result);
  if (pending.handle <= 2 || pending.offset < 0) return;
  std::string& content = contents_[open_[pending.call.fd].file];
  const auto at = static_cast<std::size_t>(pending.offset);
  if (content.size() < at + count) content.resize(at + count);
  std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(at));
}

void TapeLearner::changed_names(const Pending& pending, std::int64_t result) {
  using To = TapeStep::Op;
  if (result < 0 && !pending.at_cache) return;
  const Op op = pending.call.op;
  if (op == Op::unlink) {
    if (result == 0) outputs_.erase(pending.path);
    add(To::unlink, pending);
  }
  if (op == Op::remove_dir) add(To::remove_dir, pending);
  if (op == Op::make_dir) add(To::make_dir, pending, mode_of(pending.call));
  if (op != Op::rename) return;
  if (const auto moved = outputs_.find(pending.path); result == 0 && moved != outputs_.end()) {
    outputs_[pending.path2] = moved->second;
    outputs_.erase(pending.path);
  }
  add(To::rename, pending);
}

void TapeLearner::add(TapeStep::Op op, const Pending& pending, std::int64_t number, std::int64_t number2) {
  TapeStep step;
  step.op = op;
  step.handle = pending.handle;
  step.number = number;
  step.number2 = number2;
  step.path = key_.names.general(pending.path);
  step.path2 = key_.names.general(pending.path2);
  tape_.steps.push_back(std::move(step));
}

// What it wrote by our account is what lies there. Else it wrote on a way that no stop told of, or somebody else did.
bool TapeLearner::is_left_as_written() {
  return std::ranges::all_of(outputs_, [this](const auto& output) {
    struct stat info {};
    if (::stat(output.first.c_str(), &info) != 0 || File{info.st_dev, info.st_ino} != output.second) return false;
    const auto lies = read_file(output.first);
    return lies && *lies == contents_[output.second];
  });
}

std::optional<Tape> TapeLearner::finish() {
  if (!refused_.empty()) return std::nullopt;
  if (!is_left_as_written()) {
    refuse("what it left is not what it was seen to write");
    return std::nullopt;
  }
  for (const auto& [path, before] : inputs_) {
    const auto digest = digest_of(path, key_.names);
    const bool same =
        before.identity.empty() ? digest && *digest == before.digest : identity_of(path) == before.identity;
    if (!digest || !same) {
      refuse("an input changed meanwhile: " + path);
      return std::nullopt;
    }
    tape_.inputs.push_back({key_.names.general(path), before.identity, *digest});
  }
  return std::move(tape_);
}

}  // namespace jitrace
