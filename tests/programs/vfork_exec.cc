// Starts itself by vfork and exec; the child writes into the cache, the parent looks whether it did.
//   vfork_exec CACHE
#include "cache_file.h"
#include "meet.h"

int main(int argc, char** argv) {
  if (argc == 3) {
    make_file(argv[1], "child", 3);
    return 0;
  }
  char child_says[] = "child";
  char* const arguments[] = {argv[0], argv[1], child_says, nullptr};
  const pid_t child = ::vfork();
  if (child < 0) return 70;
  if (child == 0) {
    ::execve("/proc/self/exe", arguments, environ);
    ::_exit(71);
  }
  if (outcome_of(child) != 0) return 1;
  return has_pieces(argv[1], "child", 3) ? 0 : 1;
}
