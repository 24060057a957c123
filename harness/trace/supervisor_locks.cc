// Who waits for which lock, whose it is, and what is said of those who wait for ever.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "process/proc.h"
#include "trace/supervisor.h"

namespace jitrace {
namespace {

constexpr std::int64_t restart_system_call = 512;  // ERESTARTSYS, the kernel's own

bool same_file(const HeldLock& line, const struct stat& info) {
  return line.inode == info.st_ino && line.device_major == major(info.st_dev) &&
         line.device_minor == minor(info.st_dev);
}

bool has_open(pid_t process, const struct stat& file) {
  const std::string directory = "/proc/" + std::to_string(process) + "/fd";
  const auto names = list_dir(directory);
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    struct stat info {};
    return ::stat(join(directory, name).c_str(), &info) == 0 && info.st_ino == file.st_ino &&
           info.st_dev == file.st_dev;
  });
}

// Of a lock that belongs to an open file the kernel says in no list whose it is, but with each descriptor.
bool holds_open_file_lock(pid_t process, const struct stat& file) {
  char name[64];
  std::snprintf(name, sizeof name, " %02x:%02x:%llu ", major(file.st_dev), minor(file.st_dev), static_cast<unsigned long long>(file.st_ino));
  const std::string directory = "/proc/" + std::to_string(process) + "/fdinfo";
  const auto names = list_dir(directory);
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& descriptor) {
    const auto text = read_file(join(directory, descriptor));
    if (!text || text->find("OFDLCK") == std::string::npos) return false;
    const auto lines = split(*text, '\n');
    return std::any_of(lines.begin(), lines.end(), [&name](const std::string& line) {
      return line.starts_with("lock:") && line.find("OFDLCK") != std::string::npos && line.find(name) != std::string::npos;
    });
  });
}

struct stat file_behind(pid_t thread, int fd) {
  struct stat info {};
  (void)::stat(("/proc/" + std::to_string(thread) + "/fd/" + std::to_string(fd)).c_str(), &info);
  return info;
}

}  // namespace

// As the kernel's own wait for a lock: EINTR, or once more if the handler asked for that (SA_RESTART).
Result<void> Supervisor::interrupt_lock(Thread& thread) {
  Registers regs = thread.before;
  regs.set_result(-restart_system_call);
  thread.reported = false;
  thread.told = false;
  TRY(regs.write(thread.id));
  return resume(thread);
}

// A lock may have been freed on a way that no stop tells of: by the last close of a descriptor that is not of the
// cache, by dup2 over it. So whoever waits tries again before anything is said of it, once after each stop of another.
Result<bool> Supervisor::retry_after_activity() {
  if (activity_ == retried_at_) return false;
  retried_at_ = activity_;
  const bool anybody = std::any_of(threads_.begin(), threads_.end(), [](const auto& entry) {
    return entry.second.state == Thread::State::parked_lock;
  });
  if (anybody) TRY(retry_locks());
  return anybody;
}

Result<void> Supervisor::retry_locks() {
  for (auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::parked_lock) continue;
    Registers regs = thread.before;
    regs.repeat(thread.call.call.raw);
    TRY(regs.write(id));
    TRY(resume(thread));
  }
  return {};
}

// Whether a record lock that somebody holds is in the way of the one that this call of a stopped thread asks for.
bool is_in_the_way(const HeldLock& held, pid_t thread, const RawCall& call) {
  struct flock asked {};
  if (!TraceeMemory(thread).read(call.args[2], &asked, sizeof asked)) return true;
  if (asked.l_type == F_RDLCK && held.access == HeldLock::Access::read) return false;
  // From elsewhere than the start of the file, or backwards: as if it were the whole file.
  if (asked.l_whence != SEEK_SET || asked.l_start < 0 || asked.l_len < 0) return true;
  const auto begin = static_cast<std::uint64_t>(asked.l_start), length = static_cast<std::uint64_t>(asked.l_len);
  return held.end >= begin && (length == 0 || held.begin < begin + length);
}

// Whether the owners of what it waits for wait, in turn, for what it owns.
bool Supervisor::would_deadlock(const Thread& waiter) {
  const auto held = proc_locks();
  std::vector<int> open{waiter.process}, seen;
  while (!open.empty()) {
    const int process = open.back();
    open.pop_back();
    for (const auto& [id, thread] : threads_) {
      if (thread.process != process || thread.state != Thread::State::parked_lock ||
          thread.call.call.op != Op::range_lock)
        continue;
      const struct stat info = file_behind(id, thread.call.call.fd);
      for (const HeldLock& line : held) {
        if (line.waiting || line.kind != "POSIX" || !same_file(line, info) || !is_in_the_way(line, id, thread.call.call.raw)) continue;
        const auto owner = by_pid_.find(line.pid);
        if (owner == by_pid_.end()) continue;
        if (owner->second == waiter.process && process != waiter.process) return true;
        if (std::find(seen.begin(), seen.end(), owner->second) != seen.end()) continue;
        seen.push_back(owner->second);
        open.push_back(owner->second);
      }
    }
  }
  return false;
}

// Who holds what it waits for; an owner that is none of ours, nor was, may let go at any time.
std::vector<pid_t> Supervisor::owners_of(const Thread& waiter, const std::vector<HeldLock>& held, bool* outside) const {
  std::vector<pid_t> owners;
  const struct stat info = file_behind(waiter.id, waiter.call.call.fd);
  for (const HeldLock& line : held) {
    if (line.waiting || !same_file(line, info)) continue;
    if (waiter.call.call.op == Op::range_lock && !is_in_the_way(line, waiter.id, waiter.call.call.raw)) continue;
    owners.push_back(line.pid);
    const bool ours = std::any_of(processes_.begin(), processes_.end(), [&](const TracedProcess& process) {
      return line.pid < 0 ? !process.end && holds_open_file_lock(process.pid, info) : process.pid == line.pid;
    });
    if (!ours) *outside = true;
  }
  if (owners.empty()) *outside = true;  // held where /proc does not show it
  return owners;
}

std::vector<std::string> Supervisor::locks_of_tree() const {
  std::vector<std::string> found;
  for (const HeldLock& line : proc_locks()) {
    if (line.waiting || (line.pid >= 0 && !by_pid_.contains(line.pid))) continue;
    found.push_back(line.kind + " " + std::to_string(line.pid) + " " + std::to_string(line.device_major) + ":" +
                    std::to_string(line.device_minor) + ":" + std::to_string(line.inode) +
                    (line.access == HeldLock::Access::read ? " read " : " write ") + std::to_string(line.begin) + "-" +
                    std::to_string(line.end));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Since it was asked last. Whoever takes a lock to look and lets go of it again has changed nothing, nor has who makes a
// file of his own, fails to link it to the lock, and takes it away.
bool Supervisor::something_changed() {
  bool changed = changes_ != changes_seen_ || files_changed_ || !born_.empty();
  files_changed_ = tried_in_vain_ = false;
  born_.clear();
  if (lock_changes_ != lock_changes_seen_) {
    std::vector<std::string> held = locks_of_tree();
    changed = changed || held != locks_seen_;
    locks_seen_ = std::move(held);
  }
  changes_seen_ = changes_;
  lock_changes_seen_ = lock_changes_;
  return changed;
}

bool Supervisor::locked_from_outside(const std::string& path) const {
  std::vector<HeldLock> others = proc_locks();
  std::erase_if(others, [this](const HeldLock& line) {
    return line.waiting || std::any_of(processes_.begin(), processes_.end(), [&line](const TracedProcess& process) {
      return process.pid == line.pid;
    });
  });
  if (others.empty()) return false;
  std::vector<std::string> files{path};
  for (const std::string& name : list_tree(path)) files.push_back(join(path, name));
  for (const std::string& file : files) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0) continue;
    for (const HeldLock& line : others) {
      if (!same_file(line, info)) continue;
      // A lock of an open file names nobody: it is of whoever has that open.
      if (line.pid >= 0 || std::none_of(by_pid_.begin(), by_pid_.end(), [&info](const auto& entry) { return has_open(entry.first, info); })) {
        return true;
      }
    }
  }
  return false;
}

void Supervisor::tell_stuck(const std::map<pid_t, BlockedThread>& blocked) {
  using How = Waiting::How;
  stuck_ = {};
  stuck_.polls = unchanged_;
  stuck_.passed = passed_since_change_;
  const bool timer = next_timer().has_value();
  stuck_.outright = !timer;
  const auto held = proc_locks();
  // A shell lets other programs look and sleep for it: what its tree looked at last says what that is for.
  const auto looks = [this](const Thread& thread, Waiting* waiting) {
    const auto look = last_look_.find(process_of(thread).worker);
    if (look == last_look_.end()) return false;
    waiting->how = How::poll;
    waiting->what = look->second.what;
    waiting->path = look->second.path;
    return true;
  };
  for (const auto& [id, thread] : threads_) {
    Waiting waiting;
    waiting.process = thread.process;
    if (thread.state == Thread::State::parked_lock) {
      waiting.how = How::lock;
      waiting.what = thread.call.what;
      waiting.path = thread.call.path;
      waiting.owners = owners_of(thread, held, &stuck_.outside);
    } else if (thread.state == Thread::State::parked_sleep) {
      stuck_.outright = false;
      if (!looks(thread, &waiting)) {
        waiting.how = How::sleep;
        waiting.what = "sleeps";
      }
    } else if (const auto wait = blocked.find(id); wait != blocked.end()) {
      if (wait->second.due) stuck_.outright = false;
      waiting.what = wait->second.what;
      switch (wait->second.on) {
        case BlockedThread::On::child: waiting.how = How::child; break;
        case BlockedThread::On::thread: waiting.how = How::thread; break;
        case BlockedThread::On::pipe: waiting.how = How::pipe; break;
        case BlockedThread::On::events:
          waiting.how = How::events;
          // Many sleep by a poll that a signal pipe may break.
          if (wait->second.due || timer) looks(thread, &waiting);
          break;
        case BlockedThread::On::outside:
          waiting.how = How::outside;
          stuck_.outside = true;
          break;
      }
    } else if (only_spins(id)) {
      stuck_.outright = false;
      (void)looks(thread, &waiting);
    } else if (thread.state == Thread::State::listening) {
      waiting.how = How::stopped;
      waiting.what = "stopped by a signal, and nobody continues it";
    } else {
      continue;
    }
    stuck_.waiting.push_back(std::move(waiting));
  }
}

}  // namespace jitrace
