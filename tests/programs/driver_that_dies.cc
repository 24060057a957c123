// A driver that is SIGKILLed with a lane full of hard cases, once standard input has a byte.
// driver_that_dies GUARD PROGRAMS SCRAP TOKEN READY
#include <poll.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "process/guard.h"
#include "ready.h"

int main(int, char** argv) {
  using namespace jitrace;
  const std::string programs = std::string(argv[2]) + "/";
  const std::string ready = argv[5];
  auto guard = Guard::start(argv[1]);
  if (!guard || !guard->add_scrap(argv[3])) return 70;
  std::uint32_t id = 0;
  for (const char* name : {"double_fork", "fork_orphan", "ignore_sigterm", "fork_storm"}) {
    if (!guard->start_process({++id, {programs + name, ready}, {argv[4]}, "", ""})) return 70;
  }
  // Orphans exist once two have ended by themselves and two have been adopted.
  for (int adopted = 0; adopted < 2;) {
    pollfd readable{guard->socket().get(), POLLIN, 0};
    if (::poll(&readable, 1, 20'000) != 1) return 71;
    auto events = guard->receive();
    if (!events) return 72;
    for (const GuardEvent& event : *events) adopted += event.kind == GuardEvent::Kind::adopted ? 1 : 0;
  }
  char byte = 0;
  if (::read(STDIN_FILENO, &byte, 1) != 1) return 73;
  ::kill(::getpid(), SIGKILL);
}
