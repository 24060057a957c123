// Traces its own child, as a debugger would. 0: it could; 3: that was refused.  uses_ptrace CACHE
#include <sys/ptrace.h>

#include <csignal>

#include "cache_file.h"
#include "meet.h"

int main(int, char** argv) {
  const pid_t child = ::fork();
  if (child < 0) return 70;
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(3);
    ::raise(SIGSTOP);
    make_file(argv[1], "traced", 3);
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, WUNTRACED) != child) return 70;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) return 1;
  if (::ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) {
    ::kill(child, SIGKILL);
    outcome_of(child);
    return 3;
  }
  return outcome_of(child);
}
