// A builder of exactly 60 calls on its cache, reads apart, when it finds nothing there: numbered below. Killed before
// or after any of them, a fresh run builds what is missing and leaves nothing behind but `artifact` and `lock`; a
// second run finds the artifact. Static and in plain calls, so that nothing else happens.
//   static_builder CACHE [--baton]
// --baton: `lock` is a file made with O_EXCL, polled every 10 ms and removed at the end, in the same 60 calls. Then
// whoever comes after a kill between calls 4 and 55 waits for ever.
// Exits 0 if the artifact is right, 1 if it is not, 70 if a call failed.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace {

constexpr int pieces = 8;
constexpr int piece_size = 512;

enum class Lock { flock, baton };

void must(bool worked) {
  if (!worked) ::_exit(70);
}

void fill(char (&piece)[piece_size], int number) {
  for (int i = 0; i < piece_size; ++i) piece[i] = static_cast<char>('a' + (i + number) % 26);
}

void write_artifact(int fd) {
  for (int number = 0; number < pieces; ++number) {
    char piece[piece_size];
    fill(piece, number);
    must(::write(fd, piece, piece_size) == piece_size);
  }
}

bool is_right(int fd) {
  char expected[piece_size];
  char found[piece_size];
  for (int number = 0; number < pieces; ++number) {
    fill(expected, number);
    if (::read(fd, found, piece_size) != piece_size || std::memcmp(found, expected, piece_size) != 0) return false;
  }
  return ::read(fd, found, 1) == 0;
}

int load(int cache) {
  const int fd = ::openat(cache, "artifact", O_RDONLY);              // 57
  struct stat found {};
  must(fd >= 0 && ::fstatat(cache, "artifact", &found, 0) == 0);  // 58
  const bool right = found.st_size == pieces * piece_size && is_right(fd);
  must(::close(fd) == 0);                                            // 59
  return right ? 0 : 1;
}

bool there(int cache) {
  struct stat found {};
  return ::fstatat(cache, "artifact", &found, 0) == 0;
}

int take(Lock lock, int cache) {
  if (lock == Lock::flock) {
    const int fd = ::openat(cache, "lock", O_RDWR | O_CREAT, 0644);  // 4
    must(fd >= 0 && ::flock(fd, LOCK_EX) == 0);                      // 5
    return fd;
  }
  for (;;) {
    const int fd = ::openat(cache, "lock", O_RDWR | O_CREAT | O_EXCL, 0644);  // 4
    if (fd >= 0) {
      must(::close(fd) == 0);  // 5
      return -1;
    }
    must(errno == EEXIST);
    const timespec poll{0, 10'000'000};
    ::nanosleep(&poll, nullptr);
  }
}

void let_go(Lock lock, int cache, int fd) {
  must((lock == Lock::flock ? ::close(fd) : ::unlinkat(cache, "lock", 0)) == 0);  // 60
}

// What a dead builder may have left in its directory. Nobody else is in there: the lock is ours.
void clear(int work) {
  for (const char* name : {"source", "object", "object.kept", "latest", "artifact.tmp"}) ::unlinkat(work, name, 0);
}

void build(int cache) {
  const bool left = ::mkdirat(cache, "work", 0755) != 0;  // 7
  const int work = ::openat(cache, "work", O_RDONLY | O_DIRECTORY);  // 8
  must(work >= 0);
  if (left) clear(work);

  const int source = ::openat(work, "source", O_WRONLY | O_CREAT | O_TRUNC, 0600);  // 9
  must(source >= 0);
  for (int i = 0; i < 3; ++i) must(::write(source, "line\n", 5) == 5);              // 10 to 12
  must(::fsync(source) == 0 && ::close(source) == 0);                               // 13, 14
  must(::fchmodat(work, "source", 0644, 0) == 0);                                   // 15

  const int object = ::openat(work, "object", O_RDWR | O_CREAT | O_TRUNC, 0644);    // 16
  must(object >= 0 && ::posix_fallocate(object, 0, pieces * 1024) == 0);            // 17
  for (int i = 0; i < pieces; ++i) must(::pwrite(object, "object\n", 7, i * 1024) == 7);  // 18 to 25
  must(::ftruncate(object, 7 * 1024) == 0 && ::fsync(object) == 0);                 // 26, 27
  must(::close(object) == 0);                                                       // 28

  struct stat found {};
  must(::linkat(work, "object", work, "object.kept", 0) == 0);                      // 29
  must(::fstatat(work, "object.kept", &found, 0) == 0 && found.st_nlink == 2);      // 30
  must(::unlinkat(work, "object", 0) == 0);                                         // 31
  must(::renameat(work, "object.kept", work, "object") == 0);                       // 32
  char target[16];
  must(::symlinkat("object", work, "latest") == 0);                                 // 33
  must(::readlinkat(work, "latest", target, sizeof target) == 6);                   // 34
  must(::faccessat(work, "latest", R_OK, 0) == 0);                                  // 35

  const int artifact = ::openat(work, "artifact.tmp", O_WRONLY | O_CREAT | O_EXCL, 0644);  // 36
  must(artifact >= 0);
  write_artifact(artifact);                                                         // 37 to 44
  must(::fsync(artifact) == 0 && ::futimens(artifact, nullptr) == 0);               // 45, 46
  must(::close(artifact) == 0);                                                     // 47

  must(::renameat(work, "artifact.tmp", cache, "artifact.new") == 0);               // 48
  for (const char* name : {"latest", "object", "source"}) must(::unlinkat(work, name, 0) == 0);  // 49 to 51
  must(::fsync(work) == 0 && ::close(work) == 0);                                   // 52, 53
  must(::unlinkat(cache, "work", AT_REMOVEDIR) == 0);                               // 54
  must(::renameat(cache, "artifact.new", cache, "artifact") == 0);                  // 55
  must(::fsync(cache) == 0);                                                        // 56
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 70;
  const Lock lock = argc > 2 && std::strcmp(argv[2], "--baton") == 0 ? Lock::baton : Lock::flock;
  must(::mkdir(argv[1], 0755) == 0 || errno == EEXIST);                // 1
  const int cache = ::open(argv[1], O_RDONLY | O_DIRECTORY);           // 2
  must(cache >= 0);
  int rc = 0;
  if (there(cache)) {                                                  // 3
    rc = load(cache);
  } else {
    const int held = take(lock, cache);
    if (!there(cache)) build(cache);                                   // 6
    rc = load(cache);
    let_go(lock, cache, held);
  }
  must(::write(1, rc == 0 ? "right\n" : "wrong\n", 6) == 6);
  return rc;
}
