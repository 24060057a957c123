#include "strategy/publish.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "process/proc.h"

namespace jitrace {
namespace {

bool has_open(pid_t pid, const struct stat& file) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  DIR* stream = ::opendir(directory.c_str());
  if (stream == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(stream)) {
    struct stat s {};
    if (::fstatat(::dirfd(stream), entry->d_name, &s, 0) == 0 && s.st_dev == file.st_dev && s.st_ino == file.st_ino) {
      found = true;
      break;
    }
  }
  ::closedir(stream);
  return found;
}

// Whether anybody but us has it open. Where leases are not to be had (another owner, a file system without them) the
// answer is yes, and the look into /proc decides.
bool maybe_open_elsewhere(const std::string& path) {
  const Result<Fd> fd = open_fd(path, O_RDONLY);
  if (!fd) return false;
  if (::fcntl(fd->get(), F_SETLEASE, F_WRLCK) != 0) return true;
  ::fcntl(fd->get(), F_SETLEASE, F_UNLCK);
  return false;
}

}  // namespace

bool busy_on_client(const std::string& path, int client) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0 || !maybe_open_elsewhere(path)) return false;
  for (const pid_t pid : find_by_environment("JITRACE_CLIENT=" + std::to_string(client))) {
    if (has_open(pid, s)) return true;
  }
  return false;
}

Result<void> rename_onto(const std::string& from, const std::string& to, Files& files, const Job& job) {
  if (job.rename == RenameMode::local || !busy_on_client(to, job.client)) return files.rename(from, to);
  const std::string aside = join(parent_of(to), ".nfs" + hex(random_bits()));
  TRY(files.rename(to, aside));
  files.probe().reach(Point::rename_gap, files.shown(to), 0);
  Result<void> renamed = files.rename(from, to);
  // The client removes the silly name at the last close; here those who have it open keep their file anyway.
  [[maybe_unused]] const Result<void> gone = files.unlink(aside);
  return renamed;
}

}  // namespace jitrace
