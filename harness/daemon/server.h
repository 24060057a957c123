#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "daemon/builder.h"
#include "event/board.h"

namespace jitrace {

struct ServerOptions {
  std::string root;        // of the cache
  std::string scratch;     // the server's own directory
  Nanoseconds idle = 0;    // leaves after so long without a request
  Board* board = nullptr;  // may be null
};

// The compile server of a cache: one build per key in flight, later requests join it. One loop owns all sockets; builds
// run in threads and ring its bell. Holds the lock for as long as it lives.
class Server {
 public:
  static Result<Server> start(ServerOptions options, Fd lock);
  Server(Server&&) noexcept = default;
  Server& operator=(Server&&) = delete;
  ~Server();

  // Serves until nobody has asked for anything for the idle time, or the cache with its lock has been removed. The
  // socket is gone before it returns.
  Result<void> run();

 private:
  struct Client {
    Fd socket;
    std::string in;
    std::string out;
    std::string waits_for;  // kernel$$arch of a build in flight; empty: none
    bool gone = false;
  };

  Server(ServerOptions options, Fd lock, Fd listener, std::unique_ptr<Fd> bell);
  bool lock_is_of_this_cache() const;
  void accept_clients();
  void read_from(Client& client);
  void write_to(Client& client);
  void take_request(Client& client, DaemonRequest request);
  void finish_builds();
  void tell_progress();
  void reply(Client& client, const DaemonReply& reply);
  void note_request(const DaemonRequest& request, std::string_view how);

  ServerOptions options_;
  Fd lock_;
  Fd listener_;
  std::unique_ptr<Fd> bell_;  // eventfd; builds refer to it while the server may be moved
  std::list<Client> clients_;
  std::map<std::string, std::unique_ptr<Builder>> builds_;  // by kernel$$arch
  Nanoseconds last_progress_ = 0;
  Nanoseconds last_request_ = 0;
  Slot slot_ = driver_slot;
};

}  // namespace jitrace
