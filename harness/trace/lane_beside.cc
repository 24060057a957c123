// Paths of a trial outside of its own directory that belong to the cache: as they lie at its start, in a copy, at its end,
// and gone after it.
#include <sys/stat.h>

#include "base/file.h"
#include "trace/lane.h"
#include "trace/lane_parts.h"

namespace jitrace {
namespace {

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string copy_of(const std::string& snapshot, std::size_t number) { return join(snapshot + ".beside", std::to_string(number)); }

}  // namespace

std::vector<std::string> TracedLane::paths_beside() const {
  std::vector<std::string> paths;
  for (const std::string& name : plan_.beside) paths.push_back(Scope::expanded(name, temporary()));
  return paths;
}

// What was there before the trial is somebody else's, too, and stays as it is.
Result<void> TracedLane::set_up_beside() {
  const std::vector<std::string> paths = paths_beside();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (exists(paths[i])) continue;
    trials_own_.insert(i);
    const std::string from = copy_of(plan_.restore, i);
    if (plan_.restore.empty() || !exists(from)) continue;
    restored_.insert(i);
    Elsewhere::note(journal(), paths[i]);
    TRY(copy_as(from, paths[i]));
  }
  return {};
}

Result<void> TracedLane::save_beside(const std::string& snapshot) const {
  const std::vector<std::string> paths = paths_beside();
  for (const std::size_t i : trials_own_) {
    if (exists(paths[i])) TRY(copy_as(paths[i], copy_of(snapshot, i)));
  }
  return {};
}

// Each worker's own directory for results ({out}) is nobody else's.
void TracedLane::note_elsewhere() {
  for (const std::string& name : supervisor_->found_elsewhere()) {
    if (is_under(name, places_.scratch)) continue;
    note(event_of(EventKind::elsewhere, name));
    if (!is_under(name, temporary_name)) passing_.push_back(name);
  }
}

void TracedLane::list_beside() {
  const std::vector<std::string> paths = paths_beside();
  const auto add = [this](const std::string& name, const std::string& path) { history_.snapshot.push_back(entry_of(name, path)); };
  for (const std::size_t i : trials_own_) {
    const std::string& name = plan_.beside[i];
    if (!exists(paths[i])) continue;
    if (!is_directory(paths[i])) {
      add(name, paths[i]);
      continue;
    }
    add(name + "/", paths[i]);
    for (const std::string& below : list_tree(paths[i])) add(join(name, below), join(paths[i], below));
  }
}

// What somebody else made or holds a lock on is left alone. Who only counts does not know who made what.
Result<void> TracedLane::clear_beside() {
  const std::vector<std::string> paths = paths_beside();
  for (const std::size_t i : trials_own_) {
    if (plan_.work == TraceWork::count || restored_.contains(i) || supervisor_->has_made(paths[i])) passing_.push_back(paths[i]);
  }
  for (const std::string& path : passing_) {
    if (!supervisor_->locked_from_outside(path)) TRY(remove_tree(path));
  }
  return remove_file(journal());
}

}  // namespace jitrace
