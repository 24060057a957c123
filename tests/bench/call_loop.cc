// call_loop WHAT PATH COUNT: makes COUNT calls and prints the nanoseconds of one. WHAT: access (looks at PATH), getppid.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long long nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  const bool looks = std::strcmp(argv[1], "access") == 0;
  const long count = std::atol(argv[3]);
  const long long begin = nanoseconds();
  for (long i = 0; i < count; ++i) {
    if (looks) ::access(argv[2], F_OK);
    else ::syscall(SYS_getppid);
  }
  std::printf("%.1f\n", static_cast<double>(nanoseconds() - begin) / static_cast<double>(count));
  return 0;
}
