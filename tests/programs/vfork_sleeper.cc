// The child of a vfork changes the cache and sleeps for ten minutes before it ends; meanwhile its parent stands in the
// kernel, where no signal reaches it.  vfork_sleeper CACHE
#include <ctime>

#include "cache_file.h"
#include "meet.h"

int main(int, char** argv) {
  const pid_t child = ::vfork();
  if (child < 0) return 70;
  if (child == 0) {
    make_file(argv[1], "child", 3);
    const timespec long_time{600, 0};
    ::nanosleep(&long_time, nullptr);
    ::_exit(0);
  }
  return outcome_of(child) == 0 && has_pieces(argv[1], "child", 3) ? 0 : 1;
}
