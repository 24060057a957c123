// What a timerfd is good for, on moved time: an end of an epoll, a read, a count of what went off meanwhile, one that a
// child has inherited, one at a time of the day, and one that is called off. "ok", or the first line that did not hold.
// The cache changes before each wait, which so ends when it is over and not later.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

void hold(bool holds, int line) {
  if (holds) return;
  printf("line %d does not hold\n", line);
  exit(1);
}
#define HOLD(what) hold(what, __LINE__)

double seen(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool about(double value, double expected) { return value > expected - 0.1 && value < expected + 30; }

const char* cache;

void change() {
  char path[4096];
  snprintf(path, sizeof path, "%s/XXXXXX", cache);
  HOLD(mkdtemp(path) != nullptr);
}

uint64_t ticks(int timer) {
  uint64_t count = 0;
  change();
  return read(timer, &count, sizeof count) == sizeof count ? count : 0;
}

void wait_for(int timer, int milliseconds, int expected) {
  change();
  const int set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(set, EPOLL_CTL_ADD, timer, &event);
  HOLD(epoll_wait(set, &event, 1, milliseconds) == expected);
  close(set);
}

}  // namespace

int main(int, char** argv) {
  cache = argv[1];
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec in_ten_minutes{{0, 0}, {600, 0}};
  double began = seen(CLOCK_MONOTONIC);
  HOLD(timerfd_settime(timer, 0, &in_ten_minutes, nullptr) == 0);
  wait_for(timer, -1, 1);
  HOLD(about(seen(CLOCK_MONOTONIC) - began, 600));
  HOLD(ticks(timer) == 1);

  const itimerspec every_minute{{60, 0}, {60, 0}};
  began = seen(CLOCK_MONOTONIC);
  HOLD(timerfd_settime(timer, 0, &every_minute, nullptr) == 0);
  HOLD(ticks(timer) == 1);
  HOLD(ticks(timer) == 1);
  HOLD(about(seen(CLOCK_MONOTONIC) - began, 120));
  change();
  sleep(200);  // meanwhile it goes off three times
  HOLD(ticks(timer) == 3);
  itimerspec left;
  HOLD(timerfd_gettime(timer, &left) == 0 && left.it_interval.tv_sec == 60 && left.it_value.tv_sec < 40);
  // A wait that ends before it.
  wait_for(timer, 5000, 0);

  const itimerspec never{};
  HOLD(timerfd_settime(timer, 0, &never, &left) == 0 && left.it_interval.tv_sec == 60 && left.it_value.tv_sec < 35);
  wait_for(timer, 3600 * 1000, 0);

  began = seen(CLOCK_MONOTONIC);
  HOLD(timerfd_settime(timer, 0, &in_ten_minutes, nullptr) == 0);
  const pid_t child = fork();
  if (child == 0) _exit(ticks(timer) == 1 && about(seen(CLOCK_MONOTONIC) - began, 600) ? 0 : 1);
  close(timer);
  int status = 1;
  HOLD(waitpid(child, &status, 0) == child && status == 0);

  // One that goes off never in our lifetime stands in nobody's way.
  const int never_again = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec for_ever{{0, 0}, {time_t{1} << 62, 0}};
  HOLD(timerfd_settime(never_again, 0, &for_ever, nullptr) == 0);
  began = seen(CLOCK_MONOTONIC);
  change();
  sleep(300);
  HOLD(about(seen(CLOCK_MONOTONIC) - began, 300));

  // A timer that went off ends with its last descriptor, and is told once to who asks for edges.
  const int edges = epoll_create1(EPOLL_CLOEXEC);
  const int once = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  epoll_event edge{EPOLLIN | EPOLLET, {}};
  HOLD(epoll_ctl(edges, EPOLL_CTL_ADD, once, &edge) == 0);
  HOLD(timerfd_settime(once, 0, &in_ten_minutes, nullptr) == 0);
  change();
  HOLD(epoll_wait(edges, &edge, 1, -1) == 1);
  change();
  HOLD(epoll_wait(edges, &edge, 1, 100'000) == 0);
  close(once);
  const int other = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  edge.events = EPOLLIN;
  HOLD(epoll_ctl(edges, EPOLL_CTL_ADD, other, &edge) == 0);
  HOLD(timerfd_settime(other, 0, &in_ten_minutes, nullptr) == 0);
  change();
  sleep(700);
  close(other);
  HOLD(epoll_wait(edges, &edge, 1, 0) == 0);

  // What was read in the machine's time is not counted again.
  const int often = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec every_20_ms{{0, 20'000'000}, {0, 20'000'000}};
  began = seen(CLOCK_MONOTONIC);
  HOLD(timerfd_settime(often, 0, &every_20_ms, nullptr) == 0);
  uint64_t count = 0;
  for (int i = 0; i < 5; ++i) {
    change();
    for (uint64_t more = 0; count % 4 != 3 && read(often, &more, sizeof more) == sizeof more;) count += more;
    count += ticks(often);
    sleep(1);
  }
  count += ticks(often);
  HOLD(static_cast<double>(count) * 0.02 <= seen(CLOCK_MONOTONIC) - began + 0.02);
  HOLD(static_cast<double>(count) * 0.02 >= seen(CLOCK_MONOTONIC) - began - 0.5);

  const int wall = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  began = seen(CLOCK_REALTIME);
  const itimerspec at{{0, 0}, {static_cast<time_t>(began) + 1000, 0}};
  HOLD(timerfd_settime(wall, TFD_TIMER_ABSTIME, &at, nullptr) == 0);
  HOLD(ticks(wall) == 1);
  HOLD(about(seen(CLOCK_REALTIME) - began, 999));
  HOLD(timerfd_settime(1, 0, &at, nullptr) == -1 && errno == EINVAL);
  HOLD(timerfd_settime(999, 0, &at, nullptr) == -1 && errno == EBADF);
  const itimerspec wrong{{0, 0}, {0, 2'000'000'000}};
  HOLD(timerfd_settime(wall, 0, &wrong, nullptr) == -1 && errno == EINVAL);
  puts("ok");
}
