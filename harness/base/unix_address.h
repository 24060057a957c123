#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// The address of a unix socket by way of its open directory: an address takes 107 bytes, and paths may be longer. Use it
// while this lives. ENAMETOOLONG: the name alone is too long.
struct UnixAddress {
  Fd directory;
  sockaddr_un address{};

  static Result<UnixAddress> of(const std::string& path);
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }
};

}  // namespace jitrace
