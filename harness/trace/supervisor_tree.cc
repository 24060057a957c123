// Who is below us: births, new programs, ends.
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "process/proc.h"
#include "trace/supervisor.h"
#include "trace/vdso.h"

namespace jitrace {
namespace {

// The process a thread belongs to, or -1.
pid_t process_of_thread(pid_t thread) {
  return static_cast<pid_t>(parse_int(proc_status(thread).field("Tgid")).value_or(-1));
}

std::string program_of(pid_t pid) {
  const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
  if (!name) return "?";
  std::string program = name->substr(0, name->find('\n'));
  // What separates in a role, and in the lines that roles stand in.
  for (char& c : program) {
    if (c == '/' || c == '|' || c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  return program;
}

// What a program would have got from its file and does without: whoever put a filter on itself gets no new privileges
// (PR_SET_NO_NEW_PRIVS). Empty: nothing.
std::string lost_privilege(pid_t pid) {
  const std::string exe = "/proc/" + std::to_string(pid) + "/exe";
  const ProcStatus status = proc_status(pid);
  if (status.state() == '?') return {};
  const auto effective = [&status](const char* name) {
    unsigned real = 0, effective_id = 0;
    (void)std::sscanf(status.field(name).c_str(), "%u %u", &real, &effective_id);
    return effective_id;
  };
  struct stat file {};
  // One that may be run and not be read keeps its process out of our sight: that is how many of them are.
  if (::stat(exe.c_str(), &file) != 0) return errno == EACCES ? "not to be read, perhaps setuid," : "";
  if ((file.st_mode & S_ISUID) != 0 && file.st_uid != effective("Uid")) return "setuid";
  if ((file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && file.st_gid != effective("Gid")) return "setgid";
  if (effective("Uid") != 0 && ::getxattr(exe.c_str(), "security.capability", nullptr, 0) > 0) return "of capabilities";
  return {};
}

}  // namespace

TracedProcess& Supervisor::add_process(pid_t pid, int parent, int worker, std::string role) {
  TracedProcess process;
  process.index = static_cast<int>(processes_.size());
  process.pid = pid;
  process.parent = parent;
  process.worker = worker;
  process.role = std::move(role);
  by_pid_[pid] = process.index;
  processes_.push_back(std::move(process));
  return processes_.back();
}

// Before its parent's event came, or in place of it: a parent that is killed just then never tells.
Result<void> Supervisor::first_stop(const TraceeStop& stop) {
  const auto status = proc_stat(stop.thread);
  const pid_t parent = status ? status->parent : -1;
  unclaimed_[stop.thread] = {stop.status, parent};
  const pid_t process = process_of_thread(stop.thread);
  if (process != stop.thread || by_pid_.contains(parent) || last_ended_ < 0) return {};
  return adopt(last_ended_, stop.thread);  // its parent is gone: it was handed on to us
}

Result<void> Supervisor::adopt(int parent, pid_t child) {
  if (threads_.contains(child)) return {};
  const pid_t process = process_of_thread(child);
  if (process < 0) return {};  // it was killed, and reaped, before its parent could tell
  Thread thread(child, parent);
  if (process == child) {
    const TracedProcess of = processes_[static_cast<std::size_t>(parent)];
    TracedProcess& born = add_process(child, of.index, of.worker, of.role + "/" + program_of(of.end ? child : of.pid));
    thread.process = born.index;
    born.arguments = of.arguments;
    if (options_.tapes != nullptr) options_.tapes->refuse(of.index, "it starts a process");
    director_.started(born);
    if (doomed_.contains(born.worker)) kill_process(born.index);
  }
  threads_[child] = thread;
  const auto waits = unclaimed_.find(child);
  if (waits == unclaimed_.end()) return {};
  const TraceeStop first{child, waits->second.status};
  unclaimed_.erase(waits);
  return handle(first);
}

Result<void> Supervisor::adopt_orphans(const TracedProcess& parent) {
  std::vector<pid_t> orphans;
  for (const auto& [child, of] : unclaimed_) {
    if (of.parent == parent.pid) orphans.push_back(child);
  }
  const int index = parent.index;
  for (const pid_t child : orphans) TRY(adopt(index, child));
  return {};
}

Result<void> Supervisor::replaced(Thread& thread) {
  const pid_t pid = process_of(thread).pid;
  const int index = thread.process;
  // Exec ends all other threads; the one that called it has the number of the process now.
  std::erase_if(threads_, [&](const auto& entry) { return entry.second.process == index && entry.first != pid; });
  Thread& leader = threads_[pid];
  leader = Thread(pid, index);
  TracedProcess& process = processes_[static_cast<std::size_t>(index)];
  process.arguments = proc_arguments(pid);
  process.replayed = options_.tapes != nullptr && options_.tapes->replaced(index);
  // Of ours: whether the kernel tells of it depends on who was first.
  if (process.arguments.starts_with(options_.starter + " 3 files")) return resume(leader);
  const bool first = process.parent < 0;
  if (!first) process.role = parent_of(process.role) + "/" + program_of(pid);
  const std::string without = lost_privilege(pid);
  if (!without.empty()) bypass(leader, "the program is " + without + ", and does without that privilege here");
  timers_.replaced(pid);
  if (options_.time == Options::Time::moved) hide_vdso(pid);
  spinning_.started_program();
  director_.started(process);
  TRY(resume(leader));
  return retry_locks();  // descriptors that close at exec have let go of their locks
}

Result<void> Supervisor::thread_ended(const TraceeStop& stop) {
  threads_.erase(stop.thread);
  unclaimed_.erase(stop.thread);
  const auto found = by_pid_.find(stop.thread);
  if (found == by_pid_.end()) return {};
  TracedProcess& process = processes_[static_cast<std::size_t>(found->second)];
  by_pid_.erase(found);
  std::erase_if(threads_, [&](const auto& entry) { return entry.second.process == process.index; });
  process.end = WaitStatus::from_raw(stop.status);
  timers_.ended(process.pid);
  if (options_.tapes != nullptr) options_.tapes->ended(process.index, *process.end);
  if (process.parent < 0) note_turn();
  last_ended_ = process.index;
  const TracedProcess ended = process;
  director_.ended(ended);
  TRY(adopt_orphans(ended));
  TRY(retry_locks());
  return wake_signalled();
}

void Supervisor::kill_process(int index) {
  TracedProcess& process = processes_[static_cast<std::size_t>(index)];
  if (process.end) return;
  process.killed = true;
  note_turn();
  ::kill(process.pid, SIGKILL);  // not reaped yet, so the number is its own
  // Wherever they stood, they are on their way out: nobody waits for them to be released.
  for (auto& [id, thread] : threads_) {
    if (thread.process == index) thread.state = Thread::State::running;
  }
}

void Supervisor::signal_process(int index, int signal) {
  const TracedProcess& process = processes_[static_cast<std::size_t>(index)];
  if (process.end) return;
  note_turn();
  ::kill(process.pid, signal);
}

void Supervisor::signal_worker(int worker, int signal) {
  for (const TracedProcess& process : processes_) {
    if (process.worker == worker) signal_process(process.index, signal);
  }
}

void Supervisor::kill_worker(int worker) {
  doomed_.insert(worker);
  for (TracedProcess& process : processes_) {
    if (process.worker == worker) kill_process(process.index);
  }
}

std::size_t Supervisor::living(int worker) const {
  return static_cast<std::size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [worker](const TracedProcess& process) { return process.worker == worker && !process.end; }));
}

}  // namespace jitrace
