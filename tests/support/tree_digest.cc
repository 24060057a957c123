#include "support/tree_digest.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "base/file.h"

namespace jitrace::test {

std::map<std::string, std::string> tree_digest(const std::string& directory, const std::vector<std::string>& except) {
  std::map<std::string, std::string> digest;
  for (const std::string& name : list_tree(directory)) {
    if (std::any_of(except.begin(), except.end(), [&](const std::string& e) { return name.starts_with(e); })) continue;
    const std::string path = join(directory, name);
    struct stat s {};
    if (::lstat(path.c_str(), &s) != 0) continue;
    std::string text = std::to_string(s.st_mode) + " " + std::to_string(s.st_ino);
    // A directory's time tells of what came and went in it; there it is the names that count.
    if (!S_ISDIR(s.st_mode)) {
      const auto content = read_file(path);
      text += " " + std::to_string(s.st_size) + " " + std::to_string(s.st_mtim.tv_sec) + "." +
              std::to_string(s.st_mtim.tv_nsec) + " " + std::to_string(std::hash<std::string>{}(content ? *content : "unreadable"));
    }
    digest[name] = text;
  }
  return digest;
}

}  // namespace jitrace::test
