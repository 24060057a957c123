#include "daemon/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file.h"

namespace jitrace {
namespace {

constexpr Nanoseconds progress_interval = milliseconds(100);
constexpr Nanoseconds look_interval = seconds(1);  // at the lock file

std::string name_of(const DaemonRequest& request) { return request.kernel + "$$" + request.arch; }

}  // namespace

Server::Server(ServerOptions options, Fd lock, Fd listener, std::unique_ptr<Fd> bell)
    : options_(std::move(options)), lock_(std::move(lock)), listener_(std::move(listener)), bell_(std::move(bell)),
      last_request_(now()) {}

// Builds first: their threads ring the bell last of all.
Server::~Server() { builds_.clear(); }

Result<Server> Server::start(ServerOptions options, Fd lock) {
  TRY(make_dirs(options.scratch));
  auto bell = std::make_unique<Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!*bell) return last_error("create eventfd");
  TRY_ASSIGN(Fd listener, listen_at(daemon_socket_path(options.root)));
  Server server(std::move(options), std::move(lock), std::move(listener), std::move(bell));
  if (server.options_.board != nullptr) {
    server.slot_ = server.options_.board->claim_slot();
    Event begun;
    begun.kind = EventKind::tool_begin;
    begun.slot = server.slot_;
    begun.a = static_cast<std::int64_t>(ToolRole::daemon);
    begun.b = ::getppid();
    begun.text = "daemon";
    server.options_.board->append(begun);
  }
  return server;
}

Result<void> Server::run() {
  for (;;) {
    const bool idle = builds_.empty() && clients_.empty();
    if (idle && (now() - last_request_ >= options_.idle || !lock_is_of_this_cache())) break;
    std::vector<pollfd> polled = {{listener_.get(), POLLIN, 0}, {bell_->get(), POLLIN, 0}};
    for (const Client& client : clients_) {
      const short events = client.out.empty() ? POLLIN : POLLIN | POLLOUT;
      polled.push_back({client.socket.get(), events, 0});
    }
    const Nanoseconds rest =
        idle ? std::min(options_.idle - (now() - last_request_), look_interval) : progress_interval;
    const int timeout = static_cast<int>(rest / milliseconds(1) + 1);
    if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR) return last_error("poll");
    std::size_t at = 2;
    for (Client& client : clients_) {
      const short events = polled[at++].revents;
      if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(client);
      if ((events & POLLOUT) != 0) write_to(client);
    }
    if ((polled[0].revents & POLLIN) != 0) accept_clients();
    if ((polled[1].revents & POLLIN) != 0) finish_builds();
    tell_progress();
    clients_.remove_if([](const Client& client) { return client.gone; });
  }
  // The name goes before the lock does, so that nobody finds a socket that no one answers.
  if (lock_is_of_this_cache()) TRY(remove_file(daemon_socket_path(options_.root)));
  if (options_.board != nullptr) {
    Event ended;
    ended.kind = EventKind::tool_end;
    ended.slot = slot_;
    options_.board->append(ended);
  }
  return remove_tree(options_.scratch);
}

// After a wipe of the cache a successor has another lock file, and its socket.
bool Server::lock_is_of_this_cache() const {
  struct stat held {};
  struct stat named {};
  return ::fstat(lock_.get(), &held) == 0 && ::stat(daemon_lock_path(options_.root).c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void Server::accept_clients() {
  for (;;) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (!peer_is_same_user(socket)) continue;
    clients_.push_back({std::move(socket), {}, {}, {}, false});
  }
}

void Server::read_from(Client& client) {
  char bytes[16384];
  for (;;) {
    const ssize_t n = ::recv(client.socket.get(), bytes, sizeof bytes, 0);
    if (n > 0) {
      client.in.append(bytes, static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    // A client that is gone takes nothing along: its build goes on and is published.
    if (n == 0 || errno != EAGAIN) client.gone = true;
    break;
  }
  for (;;) {
    const Result<std::optional<std::string>> frame = take_frame(&client.in);
    if (!frame) {
      client.gone = true;
      return;
    }
    if (!*frame) return;
    Result<DaemonRequest> request = DaemonRequest::parse(**frame);
    if (request) take_request(client, std::move(*request));
    else reply(client, {DaemonReply::Kind::failed, request.error().message()});
  }
}

void Server::take_request(Client& client, DaemonRequest request) {
  last_request_ = now();
  const std::string name = name_of(request);
  client.waits_for = name;
  const auto running = builds_.find(name);
  if (running != builds_.end()) {
    note_request(request, "joined");
    return;
  }
  note_request(request, "builds");
  builds_[name] = std::make_unique<Builder>(std::move(request), options_.root, options_.scratch, options_.board,
                                            [bell = bell_->get()] { ::eventfd_write(bell, 1); });
}

void Server::finish_builds() {
  eventfd_t rings = 0;
  ::eventfd_read(bell_->get(), &rings);
  for (auto build = builds_.begin(); build != builds_.end();) {
    if (!build->second->finished()) {
      ++build;
      continue;
    }
    for (Client& client : clients_) {
      if (client.waits_for != build->first) continue;
      client.waits_for.clear();
      reply(client, build->second->reply());
    }
    build = builds_.erase(build);
    last_request_ = now();
  }
}

void Server::tell_progress() {
  if (now() - last_progress_ < progress_interval) return;
  last_progress_ = now();
  for (Client& client : clients_) {
    const auto build = builds_.find(client.waits_for);
    if (build != builds_.end() && build->second->alive()) reply(client, {DaemonReply::Kind::progress, {}});
  }
}

void Server::reply(Client& client, const DaemonReply& reply) {
  client.out += framed(reply.text());
  write_to(client);
}

void Server::write_to(Client& client) {
  while (!client.out.empty()) {
    const ssize_t n = ::send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (n > 0) {
      client.out.erase(0, static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    client.gone = true;
    return;
  }
}

void Server::note_request(const DaemonRequest& request, std::string_view how) {
  if (options_.board == nullptr) return;
  Event event;
  event.kind = EventKind::served_request;
  event.slot = slot_;
  event.key = request.key;
  event.attempt = request.attempt;
  event.text = how;
  options_.board->append(event);
}

}  // namespace jitrace
