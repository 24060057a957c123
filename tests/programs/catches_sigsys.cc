// Handles SIGSYS itself, and asks for a call that no kernel has: whoever watches it must neither send it one more
// SIGSYS nor take its own away, and an unknown call is ENOSYS still.  catches_sigsys CACHE
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>

#include "cache_file.h"

namespace {

volatile std::sig_atomic_t caught = 0;

}  // namespace

int main(int, char** argv) {
  struct sigaction action {};
  action.sa_handler = [](int) { caught = caught + 1; };
  if (::sigaction(SIGSYS, &action, nullptr) != 0) return 70;
  make_file(argv[1], "before", 3);
  ::raise(SIGSYS);
  if (caught != 1) return 1;
  if (::syscall(100'000) != -1 || errno != ENOSYS) return 2;
  make_file(argv[1], "after", 3);
  return caught == 1 ? 0 : 1;
}
