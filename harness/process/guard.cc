#include "process/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "process/guard_wire.h"
#include "process/proc.h"

namespace jitrace {
namespace {

using guard_wire::Block;
using guard_wire::Request;
using guard_wire::Writer;

constexpr int guard_socket = 3;
constexpr int end_patience_ms = 20'000;

// The driver holds a pidfd for each process of its lanes; the usual soft limit is 1024. Returns the limit as it was.
std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 16384));
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  return before;
}

Writer request(Request kind) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(kind));
  return writer;
}

Result<void> send(const Fd& socket, const Writer& writer) {
  return guard_wire::send_message(socket, writer.data(), Fd(), Block::yes);
}

}  // namespace

Guard::Guard(Process process, Fd socket) : process_(std::move(process)), socket_(std::move(socket)) {}

Result<Guard> Guard::start(const std::string& guard_program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return last_error("create a socket pair");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  TRY_ASSIGN(const Fd null, open_fd("/dev/null", O_RDWR));
  Command command;
  command.argv = {guard_program, std::to_string(raise_descriptor_limit())};
  command.in = command.out = null.get();
  command.place = {{theirs.get(), guard_socket}};
  // A ^C at the terminal reaches the driver alone; the guard hears of it by the socket.
  command.group = Command::Group::own_session;
  TRY_ASSIGN(Process process, Process::spawn(command));
  theirs.close();
  // Its first word: from here on it reaps orphans, and no signal of a terminal ends it.
  pollfd word{ours.get(), POLLIN, 0};
  while (::poll(&word, 1, -1) < 0 && errno == EINTR) {
  }
  const auto hello = guard_wire::receive_message(ours);
  if (!hello || !*hello) return make_error("start a guard", guard_program, 0, "it ended at once");
  return Guard(std::move(process), std::move(ours));
}

Guard::~Guard() {
  if (!socket_) return;
  socket_.close();
  // Only a process that the kernel cannot kill (asleep on a dead mount) keeps a guard longer; ~Process kills it then.
  pollfd ended{process_.pidfd().get(), POLLIN, 0};
  while (::poll(&ended, 1, end_patience_ms) < 0 && errno == EINTR) {
  }
}

Result<void> Guard::start_process(const Start& start) {
  Writer writer = request(Request::start);
  writer.number(start.id).texts(start.argv).texts(start.environment).text(start.directory).text(start.output);
  TRY(send(socket_, writer));
  running_[start.id];
  return {};
}

Result<void> Guard::signal(std::uint32_t id, int number) {
  const auto at = running_.find(id);
  if (at == running_.end()) return make_error("signal a process", {}, ESRCH);
  if (!at->second) return make_error("signal a process", {}, EAGAIN, "it has not started yet");
  return send_signal(at->second, number);
}

Result<void> Guard::signal_group(std::uint32_t id, int number) {
  if (!running_.contains(id)) return make_error("signal a process group", {}, ESRCH);
  return send(socket_, request(Request::signal_group).number(id).number(static_cast<std::uint64_t>(number)));
}

Result<void> Guard::sweep() { return send(socket_, request(Request::sweep)); }

Result<void> Guard::add_scrap(const std::string& directory) {
  return send(socket_, request(Request::add_scrap).text(directory));
}

Result<void> Guard::drop_scrap(const std::string& directory) {
  return send(socket_, request(Request::drop_scrap).text(directory));
}

Result<std::vector<GuardEvent>> Guard::receive() {
  std::vector<GuardEvent> events;
  for (;;) {
    auto message = guard_wire::receive_message(socket_);
    // What came before the end is still told; the end shows again at the next call.
    if (!message && !events.empty()) return events;
    if (!message) return message.error();
    if (!*message) return events;
    TRY_ASSIGN(GuardEvent event, guard_wire::decode((*message)->data));
    if (event.kind == GuardEvent::Kind::started) running_[event.id] = std::move((*message)->attached);
    if (event.kind == GuardEvent::Kind::not_started || event.kind == GuardEvent::Kind::ended) running_.erase(event.id);
    events.push_back(std::move(event));
  }
}

pid_t Guard::pid() const { return process_.pid(); }

std::vector<Descendant> Guard::descendants() const {
  std::vector<Descendant> below;
  for (const pid_t pid : proc_descendants(process_.pid())) {
    const auto stat = proc_stat(pid);
    if (!stat) continue;
    below.push_back({pid, stat->parent, stat->state, stat->cpu_ticks, proc_arguments(pid), proc_wait_channel(pid)});
  }
  return below;
}

}  // namespace jitrace
