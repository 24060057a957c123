// Ends as it is told: end_as exit CODE | end_as signal NUMBER
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

int main(int, char** argv) {
  const int value = std::atoi(argv[2]);
  if (std::strcmp(argv[1], "exit") == 0) ::_exit(value);
  ::prctl(PR_SET_DUMPABLE, 0);  // no core files
  ::kill(::getpid(), value);
  ::_exit(0);  // the signal does not end a process
}
