#pragma once

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/decode.h"

namespace jitrace {

// A child under a tracer that lets everything through and writes down where it stopped.
class Seized {
 public:
  // The child waits for the tracer, then runs `body`, whose result is its exit status; `body` gets the descriptor to
  // wait on instead, if it wants to wait itself.
  enum class Waits { here, in_body };
  Seized(Waits waits, const std::function<int(int go)>& body) {
    int go[2];
    EXPECT_EQ(::pipe(go), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(go[1]);
      char byte = 0;
      if (waits == Waits::here && ::read(go[0], &byte, 1) != 1) ::_exit(99);
      ::_exit(body(go[0]));
    }
    ::close(go[0]);
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, pid_, 0, options), 0);
    EXPECT_EQ(::write(go[1], "g", 1), 1);
    ::close(go[1]);
    run();
  }

  struct Stop {
    std::uint64_t number;
    std::uint32_t data;
    bool after_exec;
  };
  std::vector<Stop> stops;
  int status = 0;  // as waitpid gives it

  int count(std::uint64_t number) const {
    int n = 0;
    for (const Stop& stop : stops) n += stop.number == number ? 1 : 0;
    return n;
  }

 private:
  void run() {
    bool after_exec = false;
    while (::waitpid(pid_, &status, __WALL) == pid_ && WIFSTOPPED(status)) {
      const int event = status >> 16;
      if (event == PTRACE_EVENT_EXEC) after_exec = true;
      if (event == PTRACE_EVENT_SECCOMP) {
        __ptrace_syscall_info info{};
        EXPECT_GT(::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info), 0);
        stops.push_back({info.seccomp.nr, info.seccomp.ret_data, after_exec});
      }
      const int signal = event == 0 ? WSTOPSIG(status) : 0;
      if (::ptrace(PTRACE_CONT, pid_, 0, signal) != 0) break;
    }
  }

  pid_t pid_ = -1;
};

}  // namespace jitrace
