// Two processes take the bytes 0 and 1 of a file in opposite orders by fcntl, each certain to have its first before it
// asks for its second. The kernel tells one of them EDEADLK; that one lets go, and the other goes on.
// 0: just so; 4: another number of them were told.  posix_deadlock CACHE
#include <sys/socket.h>

#include <cerrno>

#include "cache_file.h"
#include "meet.h"

namespace {

constexpr int told = 35;

bool lock(int fd, int byte) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return ::fcntl(fd, F_SETLKW, &range) == 0;
}

int take_both(const char* cache, int first, int second, int end) {
  const int fd = open_in(cache, "bytes", O_RDWR | O_CREAT);
  if (!lock(fd, first)) return 70;
  meet(end);
  if (lock(fd, second)) return 0;
  return errno == EDEADLK ? told : 1;
}

}  // namespace

int main(int, char** argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 70;
  const pid_t one = ::fork();
  if (one == 0) ::_exit(take_both(argv[1], 0, 1, ends[0]));
  const pid_t other = ::fork();
  if (other == 0) ::_exit(take_both(argv[1], 1, 0, ends[1]));
  if (one < 0 || other < 0) return 70;
  const int first = outcome_of(one);
  const int second = outcome_of(other);
  return (first == told && second == 0) || (first == 0 && second == told) ? 0 : 4;
}
