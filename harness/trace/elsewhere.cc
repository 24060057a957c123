#include "trace/elsewhere.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace jitrace {
namespace {

// What the kernel makes up, and devices; shared memory is files like others.
bool is_no_file(const std::string& path) {
  if (is_under(path, "/dev/shm")) return false;
  return is_under(path, "/proc") || is_under(path, "/sys") || is_under(path, "/dev");
}

}  // namespace

void Elsewhere::done(const Step& step) {
  // What it takes away without having made it was somebody else's: then so is a new one of that name.
  if (!step.removed.empty() && !made_.contains(step.removed)) theirs_.insert(step.removed);
  if (step.made.empty() || theirs_.contains(step.made) || is_no_file(step.made)) return;
  if (made_.insert(step.made).second && !journal_.empty()) note(journal_, step.made);
}

void Elsewhere::note(const std::string& journal, const std::string& path) {
  const Fd file(::open(journal.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // A name may hold a newline. Without the journal only an interrupted run leaves more behind.
  if (file) (void)write_all(file, path + '\0', journal);
}

std::vector<std::string> Elsewhere::found(const std::function<bool(const std::string&)>& is_temporary) const {
  std::vector<std::string> out;
  for (const std::string& path : made_) {
    if (!is_temporary(path) && !locked_.contains(path) && exists(path)) continue;
    if (std::none_of(out.begin(), out.end(), [&path](const std::string& root) { return is_under(path, root); })) out.push_back(path);
  }
  return out;
}

void Elsewhere::clean_up(const std::string& journal, const std::vector<std::string>& roots) {
  const auto text = read_file(journal);
  if (!text) return;
  std::vector<std::string> paths = split(*text, '\0');
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (path->empty()) continue;
    if (std::find(roots.begin(), roots.end(), *path) != roots.end()) (void)remove_tree(*path);
    else if (::unlink(path->c_str()) != 0) (void)::rmdir(path->c_str());
  }
}

}  // namespace jitrace
