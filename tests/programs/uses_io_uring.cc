// Asks for an io_uring, by which files could change unseen, and writes a file of the cache the plain way. 0 whatever
// the kernel answers; says which.  uses_io_uring CACHE
#include <linux/io_uring.h>
#include <sys/syscall.h>

#include <cerrno>

#include "cache_file.h"

int main(int, char** argv) {
  io_uring_params parameters{};
  const long ring = ::syscall(SYS_io_uring_setup, 8, &parameters);
  if (ring >= 0) {
    std::puts("io_uring: here");
  } else {
    std::printf("io_uring: %s\n", std::strerror(errno));
  }
  make_file(argv[1], "plain", 3);
  return 0;
}
