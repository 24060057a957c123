#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/call.h"

namespace jitrace {

// Decides whether a path of a traced process lies in the cache, as that process sees it: relative paths, directory
// descriptors, symbolic links, "..", bind mounts, another root. The cache is its directory and further paths (locks
// that lie beside it). Used while the process stands before the call.
class Scope {
 public:
  // `cache` must exist. `beside`: files or directories outside of it that belong to it; they need not exist yet.
  // `around`: the directory that it lies in, if that is its own, too: what lies there is named "../lock".
  static Result<Scope> create(const std::string& cache, const std::vector<std::string>& beside, const std::string& around = {});

  const std::string& cache() const { return cache_; }

  // Relative to the cache ("." for itself); a path beside it comes out absolute or as "$TMPDIR/name". Nothing: not of the
  // cache.
  std::optional<std::string> of_path(pid_t thread, int directory, const std::string& path, bool follows);
  // Of an open descriptor; a file that has no name any more is "name (deleted)".
  std::optional<std::string> of_descriptor(pid_t thread, int fd);
  // Absolute, as the process sees it: of what lies neither in the cache nor around it, whether it belongs to it or not.
  std::optional<std::string> outside(pid_t thread, int directory, const std::string& path, bool follows);

  // What lies in the directory for temporary files, which is another in each trial, is named "$TMPDIR/name".
  static std::string expanded(const std::string& name, const std::string& temporary);
  void set_temporary(const std::string& directory);
  bool is_temporary(const std::string& path) const;
  std::string of_other(const std::string& path) const;  // a path that is not of the cache, as a recording names it
  std::string real_path(const std::string& name) const;  // what stands for a name that came out of here
  // A directory, or a link to one, was renamed, removed, linked to or mounted on, or a process has another root since:
  // what was remembered of directories and of the roots of threads is void. After the call, not before it.
  void forget();

 private:
  // A canonical directory: relative to the cache, or, outside of it, absolute as the process sees it.
  struct Place {
    bool inside = false;
    std::string name;
  };
  struct Located {
    bool of_cache = false;
    std::string name;     // as of_path() names it
    std::string outside;  // as outside() does
  };
  // What a thread sees under "/". Most see what we see, and their paths may be used as they are.
  struct View {
    bool ours = true;
    std::string root;   // as /proc shows it to us
    std::string key;    // distinguishes roots and mount namespaces
    std::string entry;  // "/proc/THREAD/root"
  };
  Scope() = default;
  const View& view_of(pid_t thread);
  std::optional<Located> locate(pid_t thread, int directory, const std::string& path, bool follows);
  std::optional<Located> locate_descriptor(pid_t thread, int fd);
  std::optional<Located> resolve(const View& view, std::string path, bool follows);
  Place place_of(const View& view, const std::string& directory);
  std::optional<Place> look_up(const View& view, const std::string& directory) const;
  Located name_in(const View& view, const Place& place, const std::string& last) const;
  bool is_cache(const struct stat& status) const;

  std::string cache_;                // canonical
  std::uint64_t device_ = 0, inode_ = 0;
  std::vector<std::string> beside_;  // canonical as far as they exist
  std::string around_;               // canonical; empty: others' files lie there
  std::string own_namespace_;
  std::string temporary_;            // as it is told to the processes
  std::string canonical_temporary_;
  std::unordered_map<pid_t, View> views_;
  std::unordered_map<std::string, Place> directories_;  // by key of the view and directory as given
};

}  // namespace jitrace
