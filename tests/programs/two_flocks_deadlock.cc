// Two processes take flocks `a` and `b` of the cache in opposite orders, each certain to have its first before it asks
// for its second. The kernel does not see it: they wait for ever.  two_flocks_deadlock CACHE
#include <sys/file.h>
#include <sys/socket.h>

#include "cache_file.h"
#include "meet.h"

namespace {

int take_both(const char* cache, const char* first, const char* second, int end) {
  const int held = open_in(cache, first, O_RDWR | O_CREAT);
  if (::flock(held, LOCK_EX) != 0) return 70;
  const int wanted = open_in(cache, second, O_RDWR | O_CREAT);
  meet(end);
  return ::flock(wanted, LOCK_EX) == 0 ? 0 : 1;
}

}  // namespace

int main(int, char** argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 70;
  const pid_t one = ::fork();
  if (one == 0) ::_exit(take_both(argv[1], "a", "b", ends[0]));
  const pid_t other = ::fork();
  if (other == 0) ::_exit(take_both(argv[1], "b", "a", ends[1]));
  if (one < 0 || other < 0) return 70;
  const int first = outcome_of(one);
  const int second = outcome_of(other);
  return first == 0 && second == 0 ? 0 : 1;
}
