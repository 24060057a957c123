// Ends by SIGKILL only.  ignore_sigterm READY
#include <csignal>
#include <initializer_list>

#include "ready.h"

int main(int, char** argv) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) ::signal(number, SIG_IGN);
  say_ready(argv[1]);
  for (;;) ::pause();
}
