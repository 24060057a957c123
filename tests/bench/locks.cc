// One uncontended acquire and release of each kind of lock that strategies use.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "scratch.h"

namespace jitrace {
namespace {

void lock_by_creating(benchmark::State& state) {
  const TempDir dir = scratch();
  const std::string path = join(dir.path(), "lock");
  for (auto _ : state) {
    const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0 || ::close(fd) != 0 || ::unlink(path.c_str()) != 0) state.SkipWithError("could not lock");
  }
  state.SetItemsProcessed(state.iterations());
}

template <class Lock>
void lock_open_file(benchmark::State& state, Lock lock) {
  const TempDir dir = scratch();
  const Fd fd = std::move(open_fd(join(dir.path(), "lock"), O_RDWR | O_CREAT).value());
  for (auto _ : state) {
    if (lock(fd.get(), true) != 0 || lock(fd.get(), false) != 0) state.SkipWithError("could not lock");
  }
  state.SetItemsProcessed(state.iterations());
}

void lock_by_flock(benchmark::State& state) {
  lock_open_file(state, [](int fd, bool acquire) { return ::flock(fd, acquire ? LOCK_EX : LOCK_UN); });
}

int record_lock(int fd, int command, bool acquire) {
  struct flock whole {};
  whole.l_type = acquire ? F_WRLCK : F_UNLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd, command, &whole);
}

void lock_by_posix(benchmark::State& state) {
  lock_open_file(state, [](int fd, bool acquire) { return record_lock(fd, F_SETLKW, acquire); });
}

void lock_by_ofd(benchmark::State& state) {
  lock_open_file(state, [](int fd, bool acquire) { return record_lock(fd, F_OFD_SETLKW, acquire); });
}

BENCHMARK(lock_by_creating);
BENCHMARK(lock_by_flock);
BENCHMARK(lock_by_posix);
BENCHMARK(lock_by_ofd);

}  // namespace
}  // namespace jitrace

BENCHMARK_MAIN();
