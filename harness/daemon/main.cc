// daemon LOCK_FD ROOT BOARD IDLE_NS: the compile server of the cache at ROOT. LOCK_FD is the locked daemon.lock, handed
// over by the client that starts it. BOARD may be empty.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "daemon/server.h"

namespace {

using namespace jitrace;

// Whatever else was open in the client would be held for this process's life (a lock above all).
void close_all_but(int kept) {
  if (kept > 3) ::close_range(3, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
  ::fcntl(kept, F_SETFD, FD_CLOEXEC);
}

std::string own_scratch() {
  const char* temporary = std::getenv("TMPDIR");
  return std::string(temporary == nullptr ? "/tmp" : temporary) + "/jitrace-daemon." + std::to_string(::getpid());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  const auto lock = parse_int(argv[1]);
  const auto idle = parse_int(argv[4]);
  if (!lock || *lock < 3 || !idle) return 64;
  close_all_but(static_cast<int>(*lock));
  std::optional<Board> board;
  if (*argv[3] != '\0') {
    Result<Board> attached = Board::attach(argv[3]);
    if (!attached) return 70;
    board.emplace(std::move(*attached));
  }
  ServerOptions options;
  options.root = argv[2];
  options.scratch = own_scratch();
  options.idle = *idle;
  options.board = board ? &*board : nullptr;
  Result<Server> server = Server::start(std::move(options), Fd(static_cast<int>(*lock)));
  if (!server) return 69;
  return server->run() ? 0 : 70;
}
