#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace jitrace {

// A file that appears whole or not at all. Only commit() renames it into place; a destroyed AtomicFile leaves nothing.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::string_view data);
  Result<void> commit();

 private:
  AtomicFile(std::string path, std::string temporary, Fd fd);
  std::string path_;
  std::string temporary_;  // empty once committed or moved from
  Fd fd_;
};

// create, write and commit in one.
Result<void> write_file_atomically(const std::string& path, std::string_view data);

}  // namespace jitrace
