#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>

// Writes "piece\n" `pieces` times to a descriptor, a call each; ends the process if that fails.
inline void write_pieces(int fd, int pieces) {
  for (int i = 0; i < pieces; ++i) {
    if (::write(fd, "piece\n", 6) != 6) ::_exit(70);
  }
}

// Opens `name` in the cache directory; ends the process if that fails. Close-on-exec.
inline int open_in(const char* cache, const char* name, int flags) {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/%s", cache, name);
  const int fd = ::open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0) ::_exit(70);
  return fd;
}

// A new file `name` in the cache directory, of so many pieces.
inline void make_file(const char* cache, const char* name, int pieces) {
  const int fd = open_in(cache, name, O_WRONLY | O_CREAT | O_TRUNC);
  write_pieces(fd, pieces);
  ::close(fd);
}

// Whether `name` has so many pieces.
inline bool has_pieces(const char* cache, const char* name, int pieces) {
  const int fd = open_in(cache, name, O_RDONLY);
  struct stat found {};
  const bool whole = ::fstat(fd, &found) == 0 && found.st_size == 6 * pieces;
  ::close(fd);
  return whole;
}
