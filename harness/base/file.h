#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace jitrace {

// Whole-file reads and the few tree operations that std::filesystem answers without an errno or a path.

Result<std::string> read_file(const std::string& path);
// For reading, of what may be anything, because somebody else put it there: EINVAL for a fifo, which would not end, and all
// else that is no file.
Result<Fd> open_regular_file(const std::string& path);
Result<std::string> read_regular_file(const std::string& path);
// Writes everything to the descriptor, across short writes and EINTR. `path` is for the error only.
Result<void> write_all(const Fd& fd, std::string_view data, const std::string& path);
// In place, O_TRUNC: readers may see a part. For files that must appear whole use AtomicFile.
Result<void> write_file(const std::string& path, std::string_view data, unsigned mode = 0644);

Result<void> make_dirs(const std::string& path);     // mkdir -p
Result<void> remove_tree(const std::string& path);   // a missing path is fine; never follows a link out
Result<void> remove_file(const std::string& path);   // a missing path is fine
Result<void> copy_file(const std::string& from, const std::string& to);

bool exists(const std::string& path);                // lstat answers
Result<std::uint64_t> file_size(const std::string& path);
Result<std::vector<std::string>> list_dir(const std::string& path);  // names, sorted
// Every file below `path`, relative to it, sorted; directories end in '/'. A tree that changes while it is read is fine.
std::vector<std::string> list_tree(const std::string& path);

std::string join(std::string_view directory, std::string_view name);
std::string parent_of(const std::string& path);
std::string base_of(const std::string& path);
bool is_under(std::string_view path, std::string_view root);  // root itself, or below it, by their names

// The directory of the running program (through /proc/self/exe).
std::string own_dir();

}  // namespace jitrace
