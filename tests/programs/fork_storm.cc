// Processes that keep starting processes, and ignore what can be ignored. At most 60 live at a time, so that a broken
// sweep fails a test and not the machine.  fork_storm READY
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <new>

#include "ready.h"

int main(int, char** argv) {
  constexpr int most = 60;
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* living = new (memory) std::atomic<int>(1);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);
  say_ready(argv[1]);
  for (;;) {
    if (living->fetch_add(1) < most) {
      if (::fork() == 0 && living->load() % 3 == 0) ::setsid();
    } else {
      living->fetch_sub(1);
      // Room for the next: half of the storm ends and is replaced all the time.
      if (::getpid() % 2 == 0 && ::getppid() != 1) {
        living->fetch_sub(1);
        ::_exit(0);
      }
    }
  }
}
