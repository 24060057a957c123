#include "process/reaper.h"

#include <sys/wait.h>

#include <cerrno>

namespace jitrace {
namespace {

// Older than glibc's name for it, newer than some kernels' headers.
constexpr auto by_pidfd = static_cast<idtype_t>(3);

int wait_for(idtype_t type, id_t id, siginfo_t* info, int flags) {
  for (;;) {
    info->si_pid = 0;
    const int rc = ::waitid(type, id, info, flags);
    if (rc == 0 || errno != EINTR) return rc;
  }
}

}  // namespace

Result<WaitStatus> reap(const Fd& pidfd) {
  siginfo_t info{};
  if (wait_for(by_pidfd, static_cast<id_t>(pidfd.get()), &info, WEXITED) != 0) return last_error("wait for a process");
  return WaitStatus::from_waitid(info.si_code, info.si_status);
}

Result<WaitStatus> reap_forked(pid_t child) {
  siginfo_t info{};
  if (wait_for(P_PID, static_cast<id_t>(child), &info, WEXITED) != 0) return last_error("wait for a process");
  return WaitStatus::from_waitid(info.si_code, info.si_status);
}

Result<std::optional<WaitStatus>> reap_if_ended(const Fd& pidfd) {
  siginfo_t info{};
  if (wait_for(by_pidfd, static_cast<id_t>(pidfd.get()), &info, WEXITED | WNOHANG) != 0) {
    return last_error("wait for a process");
  }
  if (info.si_pid == 0) return std::optional<WaitStatus>();
  return std::optional(WaitStatus::from_waitid(info.si_code, info.si_status));
}

EndedChild find_ended_child() {
  siginfo_t info{};
  if (wait_for(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) return {};
  if (info.si_pid == 0) return {.left = Children::running, .pid = -1, .status = {}};
  return {.left = Children::ended, .pid = info.si_pid, .status = WaitStatus::from_waitid(info.si_code, info.si_status)};
}

void reap_ended(pid_t pid) {
  siginfo_t info{};
  JITRACE_CHECK(wait_for(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid == pid);
}

Result<std::optional<TraceeStop>> next_tracee_stop(Blocking blocking) {
  TraceeStop stop;
  stop.thread = ::waitpid(-1, &stop.status, __WALL | (blocking == Blocking::yes ? 0 : WNOHANG));
  if (stop.thread > 0) return std::optional(stop);
  if (stop.thread == 0 || errno == EINTR) return std::optional<TraceeStop>();
  return last_error("wait for a traced process");
}

bool is_own_child(pid_t pid) {
  siginfo_t info{};
  return wait_for(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

}  // namespace jitrace
