#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// What a client asks the compile server of a cache for: one key, and all that its compiler needs.
struct DaemonRequest {
  std::uint16_t key = 0;
  std::string kernel;
  std::string arch;
  std::string toolchain;                 // kind
  std::string library;                   // nvrtc's path; empty: argv is run
  std::string toolchain_name;            // for the events
  std::string source;                    // the text
  std::uint64_t attempt = 0;             // becomes the attempt of the build, unless one is in flight already
  std::vector<std::string> argv;         // {source} and {output} stand for files in the server's private directory
  std::vector<std::string> environment;  // complete
  std::string directory;

  std::string text() const;
  static Result<DaemonRequest> parse(std::string_view text);
};

struct DaemonReply {
  enum class Kind {
    progress,  // the build goes on; more follows
    ready,     // the entry is published
    failed,    // message: what the compiler said
    killed,    // the compiler was killed by a signal, which says nothing about the source: ask again
  };
  Kind kind = Kind::progress;
  std::string message;

  std::string text() const;
  static Result<DaemonReply> parse(std::string_view text);
};

// A message on the stream: its length in four bytes, little end first, then its text.
std::string framed(std::string_view text);
// Takes the first whole message out of the buffer. An error: the peer does not speak this protocol.
Result<std::optional<std::string>> take_frame(std::string* buffer);

// The paths of the server of a cache. The lock is the cache's, the socket is the host's.
std::string daemon_lock_path(const std::string& root);
std::string daemon_socket_path(const std::string& root);

// Both go through a short path to the directory: the name in a socket address is limited to 108 bytes.
Result<Fd> listen_at(const std::string& path);   // replaces what lies there; mode 0600
Result<Fd> connect_to(const std::string& path);  // ENOENT, ECONNREFUSED: nobody listens
std::optional<ucred> peer_of(const Fd& socket);  // SO_PEERCRED: for a client, whoever called listen
bool peer_is_same_user(const Fd& socket);

}  // namespace jitrace
