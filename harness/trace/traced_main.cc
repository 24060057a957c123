#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "trace/decode.h"

// traced FD files|files_and_clocks -- ARGV...: waits for a byte from FD, by when the tracer has it seized, installs the
// filter and becomes ARGV.

namespace {

constexpr int usage_exit = 64, refused_exit = 125, not_executable_exit = 126, not_found_exit = 127;

std::optional<jitrace::Stops> parse_stops(std::string_view text) {
  if (text == "files") return jitrace::Stops::files;
  if (text == "files_and_clocks") return jitrace::Stops::files_and_clocks;
  return std::nullopt;
}

// False: whoever was to trace us is gone.
bool wait_for_go(int descriptor) {
  char byte = 0;
  ssize_t n = 0;
  do {
    n = ::read(descriptor, &byte, 1);
  } while (n < 0 && errno == EINTR);
  return n == 1;
}

// An ignored signal stays ignored over exec: no property of ours is to become one of the subject.
void restore_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool install(const std::vector<sock_filter>& filter) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size());
  program.filter = const_cast<sock_filter*>(filter.data());  // the kernel only reads
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // Before 5.16 a filter switches speculation off unless told not to: the subject would run slower than it does alone.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto descriptor = argc >= 5 ? jitrace::parse_int(argv[1]) : std::nullopt;
  const auto stops = argc >= 5 ? parse_stops(argv[2]) : std::nullopt;
  if (!descriptor || *descriptor < 0 || !stops || std::string_view(argv[3]) != "--") {
    std::fputs("traced: jitrace starts this program; it is of no use by hand\n", stderr);
    return usage_exit;
  }
  const std::vector<sock_filter> filter = jitrace::build_filter(*stops);
  if (!wait_for_go(static_cast<int>(*descriptor))) {
    std::fputs("traced: the tracer went away before it let the program start\n", stderr);
    return refused_exit;
  }
  ::close(static_cast<int>(*descriptor));
  restore_signals();
  if (!install(filter)) {
    std::fprintf(stderr, "traced: this machine refuses a system-call filter: %s\n", std::strerror(errno));
    return refused_exit;
  }
  ::execvp(argv[4], argv + 4);
  const int code = errno;
  std::fprintf(stderr, "traced: cannot run %s: %s\n", argv[4], std::strerror(code));
  // Not through exit(): whatever a library does there would stop at the filter, and be taken for the subject's.
  ::_exit(code == ENOENT ? not_found_exit : not_executable_exit);
}
