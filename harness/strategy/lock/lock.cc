#include "strategy/lock/lock.h"

namespace jitrace {

std::unique_ptr<Lock> make_lock(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                Nanoseconds baseline) {
  switch (choice.kind) {
    case LockKind::baton: return make_baton(choice, path, files, job, baseline);
    case LockKind::flock:
    case LockKind::ofd: return make_kernel_lock(choice, path, files, job, baseline);
    case LockKind::none:
    case LockKind::daemon: break;
  }
  return nullptr;
}

}  // namespace jitrace
