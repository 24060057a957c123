#include "process/wait_status.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "base/check.h"

namespace jitrace {
std::string name_of_signal(int number) {
  if (const char* name = ::sigabbrev_np(number); name != nullptr) return std::string("SIG") + name;
  if (number >= SIGRTMIN && number <= SIGRTMAX) return "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
  return "signal " + std::to_string(number);
}

std::optional<int> parse_signal(std::string_view name) {
  for (int number = 1; number < SIGRTMIN; ++number) {
    const std::string known = name_of_signal(number);
    if (name == known || (known.starts_with("SIG") && name == std::string_view(known).substr(3))) return number;
  }
  return std::nullopt;
}

WaitStatus WaitStatus::from_raw(int status) {
  if (WIFEXITED(status)) return {Kind::exited, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return {Kind::killed, WTERMSIG(status)};
  if (WIFSTOPPED(status)) return {Kind::stopped, WSTOPSIG(status)};
  return {Kind::continued, SIGCONT};
}

WaitStatus WaitStatus::from_waitid(int code, int status) {
  switch (code) {
    case CLD_EXITED: return {Kind::exited, status};
    case CLD_KILLED:
    case CLD_DUMPED: return {Kind::killed, status};
    case CLD_STOPPED:
    case CLD_TRAPPED: return {Kind::stopped, status};
    case CLD_CONTINUED: return {Kind::continued, SIGCONT};
    default: check_failed("a CLD_ code", __FILE__, __LINE__);
  }
}

WaitStatus WaitStatus::exited(int code) { return {Kind::exited, code}; }
WaitStatus WaitStatus::killed(int signal) { return {Kind::killed, signal}; }

int WaitStatus::raw() const {
  switch (kind_) {
    case Kind::exited: return value_ << 8;
    case Kind::killed: return value_;
    case Kind::stopped: return (value_ << 8) | 0x7f;
    case Kind::continued: return 0xffff;
  }
  return 0;
}

std::string WaitStatus::describe() const {
  switch (kind_) {
    case Kind::exited: return "exit " + std::to_string(value_);
    case Kind::killed: return "killed by " + name_of_signal(value_);
    case Kind::stopped: return "stopped by " + name_of_signal(value_);
    case Kind::continued: return "continued";
  }
  return {};
}

}  // namespace jitrace
