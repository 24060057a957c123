// Holds a lock until it is killed.  hold_lock flock|posix|ofd FILE READY
#include <fcntl.h>
#include <sys/file.h>

#include <cstring>

#include "ready.h"

int main(int, char** argv) {
  const int fd = ::open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return 70;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int rc = -1;
  if (std::strcmp(argv[1], "flock") == 0) rc = ::flock(fd, LOCK_EX | LOCK_NB);
  if (std::strcmp(argv[1], "posix") == 0) rc = ::fcntl(fd, F_SETLK, &whole);
  if (std::strcmp(argv[1], "ofd") == 0) rc = ::fcntl(fd, F_OFD_SETLK, &whole);
  if (rc != 0) return 70;
  say_ready(argv[3]);
  for (;;) ::pause();
}
