// What the tree makes outside of the cache.
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/supervisor.h"

namespace jitrace {

// Before a call: what it would make or take away there, if anything.
std::optional<Elsewhere::Step> Supervisor::elsewhere_step(const Thread& thread, const Call& call) {
  const bool removes = call.op == Op::unlink || call.op == Op::remove_dir || call.op == Op::rename;
  const bool makes = two_paths(call.op) || call.op == Op::make_dir || call.op == Op::make_node ||
                     (call.op == Op::open && (call.flags & O_CREAT) != 0);
  if (!removes && !makes) return std::nullopt;
  Elsewhere::Step step;
  if (makes) {
    const auto path = two_paths(call.op) ? scope_.outside(thread.id, call.directory2, call.path2, false)
                                         : scope_.outside(thread.id, call.directory, call.path, call.follows);
    if (path && !exists(*path)) step.made = *path;
  }
  if (removes) step.removed = scope_.outside(thread.id, call.directory, call.path, false).value_or("");
  if (step.made.empty() && step.removed.empty()) return std::nullopt;
  return step;
}

std::vector<std::string> Supervisor::found_elsewhere() const {
  std::vector<std::string> out;
  const auto is_temporary = [this](const std::string& path) { return scope_.is_temporary(path); };
  for (const std::string& path : elsewhere_.found(is_temporary)) out.push_back(scope_.of_other(path));
  return out;
}

}  // namespace jitrace
