// Prints what it was born with, a line each: arguments, directory, descriptors, signals, group, limits.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("argument %s\n", argv[i]);
  char directory[4096];
  std::printf("directory %s\n", ::getcwd(directory, sizeof directory));
  for (char** entry = environ; *entry != nullptr; ++entry) std::printf("environment %s\n", *entry);
  for (int fd = 3; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("descriptor %d\n", fd);
  }
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number <= 64; ++number) {
    if (number == 32 || number == 33) continue;
    if (::sigismember(&blocked, number) == 1) std::printf("blocked %d\n", number);
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) std::printf("not default %d\n", number);
  }
  std::printf("leads group %d\n", ::getpgrp() == ::getpid());
  std::printf("leads session %d\n", ::getsid(0) == ::getpid());
  int death = 0;
  ::prctl(PR_GET_PDEATHSIG, &death);
  std::printf("death signal %d\n", death);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::printf("limit of descriptors %llu\n", static_cast<unsigned long long>(limit.rlim_cur));
}
