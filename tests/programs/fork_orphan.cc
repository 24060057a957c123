// Leaves a child behind, as a builder that is killed leaves its compiler.  fork_orphan READY
#include "ready.h"

int main(int, char** argv) {
  if (::fork() == 0) {
    say_ready(argv[1]);
    for (;;) ::pause();
  }
  return 3;
}
