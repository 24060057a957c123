// What flock -w is made of: a blocking flock and an alarm, against a lock that a child holds until we end.
// 3: the alarm came after its five seconds and the flock said EINTR; 0: it got the lock.
//   alarm_flock CACHE [--restart]
// --restart: the handler is one that lets the kernel begin the flock again, so it never ends.
#include <sys/file.h>

#include <cerrno>
#include <csignal>

#include "cache_file.h"

namespace {

volatile std::sig_atomic_t rung = 0;

}  // namespace

int main(int argc, char** argv) {
  int held[2];
  int life[2];
  if (::pipe2(held, O_CLOEXEC) != 0 || ::pipe2(life, O_CLOEXEC) != 0) return 70;
  const pid_t holder = ::fork();
  if (holder < 0) return 70;
  char byte = 'h';
  if (holder == 0) {
    ::close(life[1]);
    const int lock = open_in(argv[1], "lock", O_RDWR | O_CREAT);
    if (::flock(lock, LOCK_EX) != 0 || ::write(held[1], &byte, 1) != 1) return 70;
    return ::read(life[0], &byte, 1) == 0 ? 0 : 70;
  }
  ::close(held[1]);
  if (::read(held[0], &byte, 1) != 1) return 70;

  struct sigaction action {};
  action.sa_flags = argc > 2 ? SA_RESTART : 0;
  action.sa_handler = [](int) { rung = 1; };
  const int lock = open_in(argv[1], "lock", O_RDWR | O_CREAT);
  if (::sigaction(SIGALRM, &action, nullptr) != 0) return 70;
  ::alarm(5);
  if (::flock(lock, LOCK_EX) == 0) return 0;
  return errno == EINTR && rung == 1 ? 3 : 1;
}
