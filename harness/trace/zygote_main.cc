#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"
#include "process/reaper.h"
#include "trace/vdso.h"

// zygote PROGRAM ARGS...: becomes PROGRAM, with its vDSO hidden as a tracer does it at the exec, and untraced from then
// on: what it forks reads its clocks by system calls.

namespace {

constexpr int usage_exit = 64, refused_exit = 125, not_executable_exit = 126;

// A child traces its parent, so that the program keeps our number and our parent.
int see_to_exec(pid_t parent, const jitrace::Fd& go) {
  const char refused = 'r', seized = 's';
  if (::ptrace(PTRACE_SEIZE, parent, nullptr, PTRACE_O_TRACEEXEC) != 0) {
    (void)::write(go.get(), &refused, 1);
    return 1;
  }
  if (::write(go.get(), &seized, 1) != 1) return 1;
  for (;;) {
    const auto stop = jitrace::next_tracee_stop(jitrace::Blocking::yes);
    if (!stop) return 1;  // it has ended
    if (!*stop || !WIFSTOPPED((*stop)->status)) continue;
    if (((*stop)->status >> 16) == PTRACE_EVENT_EXEC) break;
    ::ptrace(PTRACE_CONT, parent, nullptr, (*stop)->status >> 16 == 0 ? WSTOPSIG((*stop)->status) : 0);
  }
  jitrace::hide_vdso(parent);
  return ::ptrace(PTRACE_DETACH, parent, nullptr, nullptr) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("zygote: jitrace starts this program; it is of no use by hand\n", stderr);
    return usage_exit;
  }
  int ends[2], allowed[2];
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::pipe2(allowed, O_CLOEXEC) != 0) return refused_exit;
  const pid_t self = ::getpid();
  const pid_t tracer = ::fork();
  if (tracer < 0) return refused_exit;
  char byte = 0;
  if (tracer == 0) {
    ::close(allowed[1]);
    if (::read(allowed[0], &byte, 1) != 1) ::_exit(1);
    ::_exit(see_to_exec(self, jitrace::Fd(ends[1])));
  }
  ::close(ends[1]);
  ::prctl(PR_SET_PTRACER, tracer, 0, 0, 0);  // without Yama there is no such call, nor need of it
  if (::write(allowed[1], "a", 1) != 1 || ::read(ends[0], &byte, 1) != 1 || byte != 's') {
    std::fputs("this machine forbids to trace a program\n", stderr);
    return refused_exit;
  }
  ::execv(argv[1], argv + 1);
  std::fprintf(stderr, "cannot run %s: %s\n", argv[1], std::strerror(errno));
  return not_executable_exit;
}
