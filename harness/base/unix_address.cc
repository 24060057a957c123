#include "base/unix_address.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace jitrace {

Result<UnixAddress> UnixAddress::of(const std::string& path) {
  UnixAddress made;
  TRY_ASSIGN(made.directory, open_fd(parent_of(path), O_PATH | O_DIRECTORY));
  const std::string name = "/proc/self/fd/" + std::to_string(made.directory.get()) + "/" + base_of(path);
  made.address.sun_family = AF_UNIX;
  if (name.size() >= sizeof made.address.sun_path) return make_error("name socket", path, ENAMETOOLONG);
  std::memcpy(made.address.sun_path, name.data(), name.size());
  return made;
}

}  // namespace jitrace
