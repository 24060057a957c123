// Leaves a daemon behind that writes into the cache when the process asked for is long gone: `daemon` is renamed into
// place then. 0 says only that it was started.  double_daemon CACHE
#include "cache_file.h"

int main(int, char** argv) {
  const int cache = ::open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int ends[2];
  if (cache < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return 70;
  if (::fork() != 0) ::_exit(0);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  if (::chdir("/") != 0) return 70;
  ::close(ends[1]);
  char none;
  if (::read(ends[0], &none, 1) != 0) return 70;  // the end comes when both who started it are gone
  const int file = ::openat(cache, "daemon.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return 70;
  write_pieces(file, 3);
  if (::fsync(file) != 0 || ::close(file) != 0) return 70;
  return ::renameat(cache, "daemon.new", cache, "daemon") == 0 ? 0 : 70;
}
