#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "strategy/control.h"
#include "strategy/lock/lock.h"

namespace jitrace {
namespace {

// torch's FileBaton: an empty file that exists while somebody builds. Nobody knows whose it is, so nobody can tell that
// its owner has died.
class Baton final : public Lock {
 public:
  Baton(const LockChoice& choice, std::string path, Files& files, const Job& job, Nanoseconds baseline)
      : choice_(choice), path_(std::move(path)), files_(files), control_(job.control) {
    bound_ = bound_of(choice_, baseline, job.bound_scale);
  }

  Acquired acquire() override {
    files_.probe().reach(Point::lock_wait, files_.shown(path_), 0);
    Result<Fd> fd = files_.open(path_, O_RDWR | O_CREAT | O_EXCL, 0777, Inherit::no);
    if (fd) {
      struct stat s {};
      if (::fstat(fd->get(), &s) == 0) inode_ = s.st_ino;
      fd_ = std::move(*fd);
      files_.probe().reach(Point::lock_held, files_.shown(path_), inode_);
      return Acquired::owner;
    }
    if (fd.error().code != EEXIST) {
      reason_ = fd.error().message();
      return Acquired::failed;
    }
    return wait();
  }

  void release() override {
    files_.probe().reach(Point::unlock, files_.shown(path_), inode_);
    fd_.close();
    if (Result<void> gone = files_.unlink(path_); !gone) {
      reason_ = gone.error().code == ENOENT ? "FileNotFoundError: [Errno 2] No such file or directory: '" + path_ + "'"
                                            : gone.error().message();
    }
  }

  std::uint64_t inode() const override { return inode_; }

 private:
  Acquired wait() {
    const Nanoseconds end = bound_ == 0 ? -1 : now() + bound_;
    files_.probe().waiting({ConditionKind::absent, files_.shown(path_), 0}, bound_);
    files_.announce("stat", path_, 0);
    while (Files::exists_unannounced(path_)) {
      if (end >= 0 && now() >= end) {
        files_.probe().wait_over(WaitEnd::bound);
        return Acquired::at_bound;
      }
      sleep_controlled(control_, choice_.poll);
    }
    files_.probe().wait_over(WaitEnd::satisfied);
    return Acquired::loser;
  }

  LockChoice choice_;
  std::string path_;
  Files& files_;
  const Fd& control_;
  Fd fd_;
  std::uint64_t inode_ = 0;
};

}  // namespace

std::unique_ptr<Lock> make_baton(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                 Nanoseconds baseline) {
  return std::make_unique<Baton>(choice, path, files, job, baseline);
}

}  // namespace jitrace
