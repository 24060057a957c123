#include "support/leftovers.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/text.h"
#include "process/proc.h"

namespace jitrace::test {
namespace {

bool below(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

std::string link_target(const std::string& path) {
  char buffer[4096];
  const ssize_t n = ::readlink(path.c_str(), buffer, sizeof buffer);
  return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
}

bool touches(pid_t pid, const std::string& directory) {
  const std::string proc = "/proc/" + std::to_string(pid);
  if (proc_arguments(pid).find(directory + "/") != std::string::npos) return true;
  if (below(link_target(proc + "/cwd"), directory)) return true;
  const auto names = list_dir(proc + "/fd");
  if (!names) return false;
  return std::any_of(names->begin(), names->end(),
                     [&](const std::string& name) { return below(link_target(join(proc + "/fd", name)), directory); });
}

std::set<pid_t> find(const Leftovers& what) {
  std::set<pid_t> found;
  for (const pid_t pid : find_by_environment(what.marker)) found.insert(pid);
  for (const pid_t pid : proc_all()) {
    if (pid != ::getpid() && touches(pid, what.directory)) found.insert(pid);
  }
  return found;
}

std::vector<std::string> describe(const std::set<pid_t>& pids) {
  std::vector<std::string> lines;
  for (const pid_t pid : pids) {
    const auto stat = proc_stat(pid);
    if (stat && stat->state != 'Z') lines.push_back(std::to_string(pid) + " " + stat->state + " " + proc_arguments(pid));
  }
  return lines;
}

}  // namespace

std::vector<std::string> Leftovers::processes() const { return describe(find(*this)); }

std::vector<std::string> Leftovers::wait_for_processes(Nanoseconds patience) const {
  const Nanoseconds deadline = now() + patience;
  for (;;) {
    const std::set<pid_t> left = find(*this);
    const std::vector<std::string> lines = describe(left);
    if (lines.empty() || now() >= deadline) return lines;
    for (const pid_t pid : left) {
      const auto pidfd = open_pidfd(pid);
      if (!pidfd) continue;
      pollfd ended{pidfd->get(), POLLIN, 0};
      (void)::poll(&ended, 1, static_cast<int>(std::max<Nanoseconds>(0, deadline - now()) / milliseconds(1)));
    }
  }
}

void Leftovers::kill_processes() const {
  for (const pid_t pid : find(*this)) {
    const auto stat = proc_stat(pid);
    const auto pidfd = open_pidfd(pid);
    // Looked at again behind the handle, which so names the process that was meant.
    const auto again = proc_stat(pid);
    if (!stat || !pidfd || !again || again->start_ticks != stat->start_ticks) continue;
    (void)send_signal(*pidfd, SIGKILL);
  }
}

std::vector<std::string> Leftovers::locks() const {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> files;
  for (const std::string& name : list_tree(directory)) {
    struct stat s {};
    if (::lstat(join(directory, name).c_str(), &s) == 0) files.insert({major(s.st_dev), minor(s.st_dev), s.st_ino});
  }
  const std::set<pid_t> ours = find(*this);
  std::vector<std::string> lines;
  for (const HeldLock& lock : proc_locks()) {
    if (files.contains({lock.device_major, lock.device_minor, lock.inode}) || ours.contains(lock.pid)) lines.push_back(lock.line);
  }
  return lines;
}

std::vector<std::string> Leftovers::mounts(const std::vector<std::string>& expected) const {
  std::vector<std::string> points;
  const auto text = read_file("/proc/self/mountinfo");
  if (!text) return {text.error().message()};
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 5 || !below(words[4], directory)) continue;
    if (std::find(expected.begin(), expected.end(), words[4]) == expected.end()) points.push_back(words[4]);
  }
  return points;
}

std::vector<std::string> caches_in(const std::string& directory) {
  std::vector<std::string> found;
  const auto names = list_dir(directory);
  if (!names) return {names.error().message()};
  for (const std::string& name : *names) {
    if (name.starts_with("jitrace-")) found.push_back(name);
  }
  return found;
}

}  // namespace jitrace::test
