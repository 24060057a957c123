#include "process/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/file.h"
#include "base/text.h"

namespace jitrace {
namespace {

constexpr std::size_t arguments_limit = 4096;

std::string proc_path(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// Up to `limit` bytes, "" if it is gone or not ours to read.
std::string read_proc(const std::string& path, std::size_t limit = 1 << 20) {
  auto fd = open_fd(path, O_RDONLY);
  if (!fd) return {};
  std::string data;
  char buffer[4096];
  while (data.size() < limit) {
    const ssize_t n = ::read(fd->get(), buffer, std::min(sizeof buffer, limit - data.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    data.append(buffer, static_cast<std::size_t>(n));
  }
  return data;
}

std::map<pid_t, std::vector<pid_t>> children_by_parent() {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : proc_all()) {
    if (const auto stat = proc_stat(pid)) children[stat->parent].push_back(pid);
  }
  return children;
}

}  // namespace

Result<Fd> open_pidfd(pid_t pid) {
  const long descriptor = ::syscall(SYS_pidfd_open, pid, 0);
  if (descriptor < 0) return last_error("open a handle on process", std::to_string(pid));
  return Fd(static_cast<int>(descriptor));
}

Result<void> send_signal(const Fd& pidfd, int number) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) != 0) return last_error("signal a process");
  return {};
}

std::vector<pid_t> proc_all() {
  std::vector<pid_t> pids;
  DIR* dir = ::opendir("/proc");
  if (dir == nullptr) return pids;
  while (const dirent* entry = ::readdir(dir)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (const auto pid = parse_int(entry->d_name)) pids.push_back(static_cast<pid_t>(*pid));
  }
  ::closedir(dir);
  return pids;
}

std::optional<ProcStat> proc_stat(pid_t pid) {
  const std::string text = read_proc(proc_path(pid, "stat"), 4096);
  // "pid (comm) state ppid …", where comm may hold spaces and parentheses: the last one ends it.
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  ProcStat stat;
  stat.pid = pid;
  unsigned long long user = 0, system = 0, start = 0;
  const int fields = std::sscanf(text.c_str() + end + 1,
                                 " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
                                 &stat.state, &stat.parent, &user, &system, &start);
  if (fields != 5) return std::nullopt;
  stat.cpu_ticks = user + system;
  stat.start_ticks = start;
  return stat;
}

std::string ProcStatus::field(std::string_view name) const {
  for (std::size_t at = 0; (at = text_.find(name, at)) != std::string::npos; at += name.size()) {
    const std::size_t colon = at + name.size();
    if ((at > 0 && text_[at - 1] != '\n') || colon >= text_.size() || text_[colon] != ':') continue;
    const std::string_view line = std::string_view(text_).substr(colon + 1, text_.find('\n', colon) - colon - 1);
    const std::size_t from = line.find_first_not_of(" \t");
    return from == std::string_view::npos ? std::string() : std::string(line.substr(from));
  }
  return {};
}

char ProcStatus::state() const {
  const std::string text = field("State");
  return text.empty() ? '?' : text[0];
}

ProcStatus proc_status(pid_t task) { return ProcStatus(read_proc(proc_path(task, "status"), 16384)); }

std::string proc_arguments(pid_t pid) {
  std::string text = read_proc(proc_path(pid, "cmdline"), arguments_limit);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  if (!text.empty()) return text;
  // A zombie has lost its arguments, but not its name.
  text = read_proc(proc_path(pid, "comm"), 64);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? text : "[" + text + "]";
}

std::optional<Nanoseconds> proc_cpu_time(pid_t task) {
  const std::string text = read_proc(proc_path(task, "schedstat"), 256);
  long long on_cpu = 0;
  if (std::sscanf(text.c_str(), "%lld", &on_cpu) != 1) return std::nullopt;
  return on_cpu;
}

std::string proc_wait_channel(pid_t pid) {
  std::string text = read_proc(proc_path(pid, "wchan"), 256);
  return text == "0" ? std::string() : text;
}

std::optional<std::vector<pid_t>> proc_listed_children(pid_t pid) {
  const std::string tasks = proc_path(pid, "task");
  auto names = list_dir(tasks);
  if (!names) return std::vector<pid_t>();
  std::vector<pid_t> children;
  for (const std::string& task : *names) {
    const std::string path = join(join(tasks, task), "children");
    if (::access(path.c_str(), R_OK) != 0) {
      if (exists(join(tasks, task))) return std::nullopt;
      continue;
    }
    for (const std::string& word : split(read_proc(path), ' ')) {
      if (const auto child = parse_int(word)) children.push_back(static_cast<pid_t>(*child));
    }
  }
  return children;
}

std::vector<pid_t> proc_children(pid_t pid) {
  if (auto listed = proc_listed_children(pid)) return *listed;
  return children_by_parent()[pid];
}

std::vector<pid_t> proc_descendants(pid_t pid) {
  std::vector<pid_t> found;
  const auto listed = proc_listed_children(pid);
  const auto scanned = listed ? std::map<pid_t, std::vector<pid_t>>() : children_by_parent();
  const auto add_children = [&](pid_t parent) {
    std::vector<pid_t> below;
    if (listed) {
      below = proc_listed_children(parent).value_or(std::vector<pid_t>());
    } else if (const auto at = scanned.find(parent); at != scanned.end()) {
      below = at->second;
    }
    for (const pid_t child : below) {
      // A number that was given anew during the scan could make a circle.
      if (std::find(found.begin(), found.end(), child) == found.end()) found.push_back(child);
    }
  };
  add_children(pid);
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i]);
  return found;
}

std::vector<std::string> proc_descriptors(pid_t pid) {
  std::vector<std::string> lines;
  const std::string directory = proc_path(pid, "fd");
  auto names = list_dir(directory);
  if (!names) return lines;
  std::sort(names->begin(), names->end(), [](const std::string& a, const std::string& b) {
    return parse_int(a).value_or(0) < parse_int(b).value_or(0);
  });
  for (const std::string& name : *names) {
    char target[4096];
    const ssize_t n = ::readlink(join(directory, name).c_str(), target, sizeof target);
    if (n < 0) continue;
    std::string flags;
    for (const std::string& line : split(read_proc(proc_path(pid, "fdinfo/") + name, 4096), '\n')) {
      if (line.starts_with("flags:")) flags = line.substr(line.find_first_not_of(" \t", 6));
    }
    lines.push_back(name + " -> " + std::string(target, static_cast<std::size_t>(n)) + " (" + flags + ")");
  }
  return lines;
}

std::vector<pid_t> find_by_environment(const std::string& assignment) {
  std::vector<pid_t> found;
  const std::string wanted = assignment + '\0';
  for (const pid_t pid : proc_all()) {
    if (pid == ::getpid()) continue;
    // In front of the first assignment too there is to be the end of another one.
    const std::string environment = '\0' + read_proc(proc_path(pid, "environ"), 4 << 20) + '\0';
    if (environment.find('\0' + wanted) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::vector<HeldLock> proc_locks() {
  std::vector<HeldLock> locks;
  for (const std::string& line : split(read_proc("/proc/locks"), '\n')) {
    // "1: FLOCK  ADVISORY  WRITE 123 08:01:456 0 EOF", with "-> " after the number for who waits.
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const bool waiting = line.compare(colon + 2, 3, "-> ") == 0;
    char kind[16] = {}, access[16] = {}, end[32] = {};
    int pid = 0;
    unsigned major = 0, minor = 0;
    unsigned long long inode = 0, begin = 0;
    if (std::sscanf(line.c_str() + colon + (waiting ? 5 : 2), "%15s %*s %15s %d %x:%x:%llu %llu %31s", kind, access, &pid, &major,
                    &minor, &inode, &begin, end) != 8) {
      continue;
    }
    HeldLock lock{.kind = kind, .waiting = waiting, .pid = static_cast<pid_t>(pid), .device_major = major, .device_minor = minor,
                  .inode = inode, .begin = begin, .line = line};
    if (std::string_view(access) == "READ") lock.access = HeldLock::Access::read;
    if (const auto last = parse_int(end)) lock.end = static_cast<std::uint64_t>(*last);  // else "EOF"
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace jitrace
