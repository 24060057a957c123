#include "strategy/daemon_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file.h"
#include "process/process.h"
#include "strategy/control.h"

namespace jitrace {
namespace {

constexpr Nanoseconds connect_interval = milliseconds(5);
constexpr Nanoseconds shortest_bound = seconds(1);  // ten signs of life of the server

// Hands the lock over: the server inherits the open file description, so the lock passes without a moment in between
// and lives as long as the server does.
Result<void> start_server(const Fd& lock, const Job& job) {
  TRY_ASSIGN(const Fd nothing, open_fd("/dev/null", O_RDWR));
  Command command;
  command.argv = {join(job.libexec, "daemon"), std::to_string(lock.get()), job.root, job.board,
                  std::to_string(job.server_idle)};
  // Pipes of the one who happened to start it would stay open for its life.
  command.in = command.out = command.err = nothing.get();
  command.inherit = {lock.get()};
  command.group = Command::Group::own_session;
  TRY_ASSIGN(Process server, Process::spawn(command));
  server.release();
  return {};
}

DaemonAnswer lost(WaitEnd* end, WaitEnd how, std::string message) {
  *end = how;
  return {DaemonAnswer::Kind::lost, std::move(message)};
}

}  // namespace

DaemonClient::DaemonClient(const LockChoice& choice, Files& files, const Job& job)
    : files_(files), job_(job), path_(daemon_socket_path(job.root)),
      bound_(std::max(bound_of(choice, 0, job.bound_scale), shortest_bound)) {}

DaemonAnswer DaemonClient::ask(const DaemonRequest& request) {
  const Result<Fd> socket = reach_server();
  if (!socket) return {DaemonAnswer::Kind::lost, socket.error().message()};
  const std::optional<ucred> peer = peer_of(*socket);
  if (!peer || peer->uid != ::getuid()) return {DaemonAnswer::Kind::lost, "the server belongs to another user"};
  files_.announce("request", path_, 0);
  if (!send(*socket, framed(request.text()))) {
    gone_ = peer->pid;
    return {DaemonAnswer::Kind::lost, "the server went away"};
  }
  files_.probe().waiting({ConditionKind::reply, files_.shown(path_), 0}, bound_);
  WaitEnd end = WaitEnd::satisfied;
  DaemonAnswer answer = await(*socket, &end);
  if (end == WaitEnd::error) gone_ = peer->pid;
  files_.probe().wait_over(end);
  return answer;
}

Result<Fd> DaemonClient::reach_server() {
  Result<Fd> socket = connect_to(path_);
  files_.announce("connect", path_, socket ? 0 : socket.error().code);
  if (socket && !is_gone(*socket)) return socket;
  files_.probe().waiting({ConditionKind::reply, files_.shown(path_), 0}, bound_);
  for (const Nanoseconds end = now() + bound_; now() < end;) {
    if (const Result<void> started = start_if_nobody_lives(); !started) {
      files_.probe().wait_over(WaitEnd::error);
      return started.error();
    }
    sleep_controlled(job_.control, connect_interval);
    socket = connect_to(path_);
    if (!socket || is_gone(*socket)) continue;
    files_.probe().wait_over(WaitEnd::satisfied);
    return socket;
  }
  files_.probe().wait_over(WaitEnd::bound);
  return make_error("reach the compile server at", path_, ETIMEDOUT);
}

bool DaemonClient::is_gone(const Fd& socket) const {
  const std::optional<ucred> peer = peer_of(socket);
  return gone_ != 0 && peer && peer->pid == gone_;
}

// Whoever gets the lock starts the server. It is held by a server that lives, whether or not it answers.
Result<void> DaemonClient::start_if_nobody_lives() {
  const std::string path = daemon_lock_path(job_.root);
  TRY_ASSIGN(const Fd lock, open_fd(path, O_RDWR | O_CREAT, 0600));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {};
    return last_error("lock", path);
  }
  files_.announce("flock", path, 0);
  return start_server(lock, job_);
}

bool DaemonClient::send(const Fd& socket, std::string_view data) const {
  const Nanoseconds end = now() + bound_;
  while (!data.empty()) {
    const ssize_t n = ::send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (n > 0) {
      data.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd writable{socket.get(), POLLOUT, 0};
      ::poll(&writable, 1, 50);
      if (now() >= end) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

DaemonAnswer DaemonClient::await(const Fd& socket, WaitEnd* end) {
  std::string buffer;
  for (;;) {
    const Result<std::optional<std::string>> frame = take_frame(&buffer);
    if (!frame) return lost(end, WaitEnd::error, frame.error().message());
    if (*frame) {
      const Result<DaemonReply> reply = DaemonReply::parse(**frame);
      if (!reply) return lost(end, WaitEnd::error, reply.error().message());
      if (reply->kind == DaemonReply::Kind::ready) return {DaemonAnswer::Kind::ready, {}};
      if (reply->kind == DaemonReply::Kind::failed) return {DaemonAnswer::Kind::failed, reply->message};
      if (reply->kind == DaemonReply::Kind::killed) return {DaemonAnswer::Kind::lost, reply->message};
      continue;
    }
    if (wait_controlled(job_.control, socket.get(), bound_) == Woken::by_time) {
      return lost(end, WaitEnd::bound, "the server fell silent");
    }
    char bytes[4096];
    const ssize_t n = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (n > 0) buffer.append(bytes, static_cast<std::size_t>(n));
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) return lost(end, WaitEnd::error, "the server went away");
  }
}

}  // namespace jitrace
