#include "strategy/daemon_wire.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unix_address.h"

namespace jitrace {
namespace {

constexpr std::string_view request_kind = "daemon-request";
constexpr std::string_view reply_kind = "daemon-reply";
constexpr int wire_version = 1;
constexpr std::size_t largest_message = 64 << 20;
constexpr std::string_view reply_names[] = {"progress", "ready", "failed", "killed"};

Result<Fd> make_socket(const std::string& path) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return last_error("create socket", path);
  return socket;
}

}  // namespace

std::string DaemonRequest::text() const {
  Fields fields{std::string(request_kind), wire_version};
  fields.add("key", std::int64_t{key});
  fields.add("kernel", kernel);
  fields.add("arch", arch);
  fields.add("toolchain", toolchain);
  fields.add("library", library);
  fields.add("toolchain_name", toolchain_name);
  fields.add("source", source);
  fields.add("attempt", hex(attempt));
  for (const std::string& word : argv) fields.add("argv", word);
  for (const std::string& setting : environment) fields.add("environment", setting);
  fields.add("directory", directory);
  return fields.text();
}

Result<DaemonRequest> DaemonRequest::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, request_kind, wire_version));
  DaemonRequest request;
  TRY_ASSIGN(const std::int64_t key, fields.get_int("key"));
  if (key < 0 || key > 0xffff) return plain_error("read a request", "its key is out of range");
  request.key = static_cast<std::uint16_t>(key);
  TRY_ASSIGN(request.kernel, fields.get("kernel"));
  // The kernel's name becomes a part of paths.
  if (request.kernel.empty() || request.kernel.find('/') != std::string::npos) {
    return plain_error("read a request", "its kernel is no name");
  }
  TRY_ASSIGN(request.arch, fields.get("arch"));
  TRY_ASSIGN(request.toolchain, fields.get("toolchain"));
  request.library = fields.get_or("library", "");
  request.toolchain_name = fields.get_or("toolchain_name", request.toolchain);
  TRY_ASSIGN(request.source, fields.get("source"));
  TRY_ASSIGN(const std::string attempt, fields.get("attempt"));
  request.attempt = parse_hex(attempt).value_or(0);
  request.argv = fields.all("argv");
  request.environment = fields.all("environment");
  request.directory = fields.get_or("directory", "");
  return request;
}

std::string DaemonReply::text() const {
  Fields fields{std::string(reply_kind), wire_version};
  fields.add("kind", reply_names[static_cast<std::size_t>(kind)]);
  fields.add("message", message);
  return fields.text();
}

Result<DaemonReply> DaemonReply::parse(std::string_view text) {
  TRY_ASSIGN(const Fields fields, Fields::parse(text, reply_kind, wire_version));
  TRY_ASSIGN(const std::string kind, fields.get("kind"));
  for (std::size_t i = 0; i < std::size(reply_names); ++i) {
    if (reply_names[i] == kind) return DaemonReply{static_cast<Kind>(i), fields.get_or("message", "")};
  }
  return plain_error("read a reply", "unknown kind " + kind);
}

std::string framed(std::string_view text) {
  std::string message;
  message.reserve(text.size() + 4);
  for (int shift = 0; shift < 32; shift += 8) message += static_cast<char>((text.size() >> shift) & 0xff);
  return message.append(text);
}

Result<std::optional<std::string>> take_frame(std::string* buffer) {
  if (buffer->size() < 4) return std::optional<std::string>{};
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>((*buffer)[i])) << (8 * i);
  if (length > largest_message) return plain_error("read a message", "it is too long");
  if (buffer->size() < 4 + length) return std::optional<std::string>{};
  std::string text = buffer->substr(4, length);
  buffer->erase(0, 4 + length);
  return std::optional<std::string>(std::move(text));
}

std::string daemon_lock_path(const std::string& root) { return join(root, "daemon.lock"); }

std::string daemon_socket_path(const std::string& root) {
  char host[65] = {};
  if (::gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  return join(root, "daemon." + std::string(host) + ".sock");
}

Result<Fd> listen_at(const std::string& path) {
  TRY_ASSIGN(const UnixAddress at, UnixAddress::of(path));
  TRY_ASSIGN(Fd socket, make_socket(path));
  TRY(remove_file(path));
  // The mode of the file is that of the socket at the time of bind; nobody else may connect at any moment.
  if (::fchmod(socket.get(), 0600) != 0) return last_error("protect socket", path);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket.get(), at.generic(), sizeof at.address);
  const int code = errno;
  ::umask(before);
  if (bound != 0) return make_error("bind", path, code);
  if (::listen(socket.get(), 512) != 0) return last_error("listen at", path);
  return socket;
}

Result<Fd> connect_to(const std::string& path) {
  TRY_ASSIGN(const UnixAddress at, UnixAddress::of(path));
  TRY_ASSIGN(Fd socket, make_socket(path));
  if (::connect(socket.get(), at.generic(), sizeof at.address) != 0) return last_error("connect to", path);
  return socket;
}

std::optional<ucred> peer_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

bool peer_is_same_user(const Fd& socket) {
  const std::optional<ucred> peer = peer_of(socket);
  return peer && peer->uid == ::getuid();
}

}  // namespace jitrace
