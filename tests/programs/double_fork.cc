// Becomes a daemon the old way: the process asked for ends at once, the one that stays has another parent, session and
// group, and no descriptor of ours.  double_fork READY
#include "ready.h"

int main(int, char** argv) {
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
  if (::chdir("/") != 0) return 70;
  say_ready(argv[1]);
  for (;;) ::pause();
}
