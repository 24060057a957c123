// Whether the cache or a lock is another after a call.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "process/proc.h"
#include "trace/supervisor.h"

namespace jitrace {
namespace {

// Device and inode of an open file.
std::optional<std::pair<std::uint64_t, std::uint64_t>> file_of(pid_t thread, int fd) {
  struct stat info {};
  const std::string link = "/proc/" + std::to_string(thread) + "/fd/" + std::to_string(fd);
  if (::stat(link.c_str(), &info) != 0) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>{info.st_dev, info.st_ino};
}

}  // namespace

Changed Supervisor::changed_by(const Thread& thread, std::int64_t result) {
  const TracedCall& done = thread.call;
  if (result < 0) return Changed::no;
  const auto when = [](bool yes) { return yes ? Changed::yes : Changed::no; };
  switch (done.call.op) {
    case Op::open:
      return when((done.call.flags & static_cast<std::uint64_t>(done.existed ? O_TRUNC : O_CREAT)) != 0);
    case Op::write:
    case Op::copy:
      return when(result > 0);
    case Op::flock: {
      const auto file = file_of(thread.id, done.call.fd);
      if (file && (done.call.flags & LOCK_UN) == 0) locked_.insert(*file);
      if (file && (done.call.flags & LOCK_UN) != 0) locked_.erase(*file);
      return Changed::yes;
    }
    case Op::close: {
      // The last descriptor of a locked file lets go of the lock.
      if (locked_.empty()) return Changed::no;
      const auto held = proc_locks();
      return when(std::erase_if(locked_, [&](const auto& file) {
        return std::none_of(held.begin(), held.end(), [&](const HeldLock& line) {
          return !line.waiting && line.inode == file.second && line.device_major == major(file.first) &&
                 line.device_minor == minor(file.first);
        });
      }) > 0);
    }
    case Op::rename:
    case Op::link:
    case Op::symlink:
    case Op::unlink:
    case Op::make_dir:
    case Op::remove_dir:
    case Op::make_node:
    case Op::truncate:
    case Op::allocate:
    case Op::mode:
    case Op::times:
    case Op::attribute:
    case Op::map:
    case Op::range_lock:
      return Changed::yes;
    case Op::stat:
    case Op::access:
    case Op::read_link:
    case Op::list:
    case Op::sync:
    case Op::other:
    case Op::kill:
    case Op::sleep:
    case Op::timer:
    case Op::clock:
    case Op::exec:
    case Op::trace:
    case Op::bypass:
      return Changed::no;
  }
  return Changed::no;
}

// A file or directory that somebody made to try for a lock, in vain, and took away again was never there.
void Supervisor::note_file_change(const TracedCall& done) {
  const bool removes = done.call.op == Op::unlink || done.call.op == Op::remove_dir;
  if ((done.call.op == Op::open && !done.existed) || done.call.op == Op::make_dir) {
    born_.insert(done.path);
    spinning_.made(done.path);
  } else if (removes && tried_in_vain_ && born_.erase(done.path) > 0) {
    spinning_.took_back(done.path);
  } else if (done.call.op != Op::write || !born_.contains(done.path)) {
    files_changed_ = true;
    spinning_.progressed();
  }
}

void Supervisor::note_turn() {
  ++changes_;
  spinning_.progressed();
}

// A program that looks for something each time anew asks for the same each time; one at work asks for more, or writes.
void Supervisor::note_call(const Call& call) {
  constexpr int last_of_messages = 2;
  if (!call.path.empty()) spinning_.called(call_key(call.name, call.path, call.path2));
  else if ((call.op == Op::write || call.op == Op::copy) && call.fd > last_of_messages) spinning_.progressed();
}

}  // namespace jitrace
