// A sleep of a minute that an alarm ends after five seconds: EINTR, and the rest is 55 seconds.  interrupted_sleep
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

int main() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  if (::sigaction(SIGALRM, &action, nullptr) != 0) return 70;
  const timespec minute{60, 0};
  timespec rest{};
  ::alarm(5);
  if (::nanosleep(&minute, &rest) == 0 || errno != EINTR) return 1;
  return rest.tv_sec == 55 || (rest.tv_sec == 54 && rest.tv_nsec > 0) ? 0 : 2;
}
