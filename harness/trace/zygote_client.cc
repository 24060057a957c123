#include "trace/zygote_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "base/text.h"
#include "base/unix_address.h"

namespace jitrace {
namespace {

Result<Fd> make_socket(const std::string& path) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return last_error("create socket", path);
  return socket;
}

Result<Fd> connect_to(const std::string& path) {
  TRY_ASSIGN(const UnixAddress address, UnixAddress::of(path));
  TRY_ASSIGN(Fd socket, make_socket(path));
  if (::connect(socket.get(), address.generic(), sizeof address.address) != 0) {
    return last_error("reach the zygote", path);
  }
  return socket;
}

void add(std::string& body, std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  body.append(reinterpret_cast<const char*>(&size), sizeof size);
  body.append(part);
}

// As zygote.py takes it apart.
std::string body_of(const Command& command, Stops stops) {
  const std::vector<sock_filter> filter = build_filter(stops);
  std::string body;
  add(body, command.directory.empty() ? std::filesystem::current_path().string() : command.directory);
  add(body, std::to_string(::getpid()));
  add(body, std::to_string(SYS_seccomp));
  add(body, {reinterpret_cast<const char*>(filter.data()), filter.size() * sizeof(sock_filter)});
  add(body, std::to_string(command.argv.size() - 1));
  for (const std::string& word : std::span(command.argv).subspan(1)) add(body, word);
  for (const std::string& setting : command.environment) add(body, setting);
  return body;
}

// The length of what follows, and with it the descriptors.
Result<void> send_header(const Fd& socket, std::uint64_t length, std::span<const int> descriptors,
                         const std::string& zygote) {
  iovec part{&length, sizeof length};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL) != sizeof length) return last_error("ask the zygote", zygote);
  return {};
}

Result<std::string> read_line(const Fd& socket, const std::string& zygote) {
  std::string line;
  for (char c = 0;;) {
    const ssize_t n = ::read(socket.get(), &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error("hear from the zygote", zygote);
    if (n == 0) return make_error("hear from the zygote", zygote, 0, "it has ended");
    if (c == '\n') return line;
    line += c;
  }
}

}  // namespace

Result<WaitingProcess> WaitingProcess::ask(const std::string& zygote, const Command& command, Stops stops) {
  TRY_ASSIGN(Fd socket, connect_to(zygote));
  TRY_ASSIGN(const Fd mounts, open_fd("/proc/self/ns/mnt", O_RDONLY));
  const std::string body = body_of(command, stops);
  const int descriptors[] = {command.in, command.out, command.err, mounts.get()};
  TRY(send_header(socket, body.size(), descriptors, zygote));
  TRY(write_all(socket, body, zygote));
  TRY_ASSIGN(const std::string answer, read_line(socket, zygote));
  const auto pid = answer.starts_with("pid ") ? parse_int(answer.substr(4)) : std::nullopt;
  if (!pid) return make_error("fork from the zygote", zygote, 0, answer);
  return WaitingProcess(static_cast<pid_t>(*pid), std::move(socket));
}

Result<void> WaitingProcess::let_go() {
  const auto told = write_all(socket_, "g", "the zygote's socket");
  socket_.close();
  return told;
}

Result<Fd> listen_for_zygote(const std::string& path) {
  TRY_ASSIGN(const UnixAddress address, UnixAddress::of(path));
  TRY_ASSIGN(Fd socket, make_socket(path));
  if (::bind(socket.get(), address.generic(), sizeof address.address) != 0) return last_error("make socket", path);
  if (::listen(socket.get(), SOMAXCONN) != 0) return last_error("listen at", path);
  return socket;
}

Result<Fd> knock_at_zygote(const std::string& path) {
  TRY_ASSIGN(Fd socket, connect_to(path));
  if (::shutdown(socket.get(), SHUT_WR) != 0) return last_error("ask the zygote", path);
  return socket;
}

}  // namespace jitrace
