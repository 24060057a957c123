#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "strategy/control.h"
#include "strategy/lock/lock.h"
#include "strategy/lock/record.h"

namespace jitrace {
namespace {

class KernelLock final : public Lock {
 public:
  KernelLock(const LockChoice& choice, std::string path, Files& files, const Job& job, Nanoseconds baseline)
      : choice_(choice), path_(std::move(path)), files_(files), control_(job.control) {
    bound_ = bound_of(choice_, baseline, job.bound_scale);
    scale_ = job.bound_scale;
  }

  Acquired acquire() override {
    files_.probe().reach(Point::lock_wait, files_.shown(path_), 0);
    const Acquired acquired = choice_.poll == 0 ? block() : poll();
    if (acquired == Acquired::owner) files_.probe().reach(Point::lock_held, files_.shown(path_), inode_);
    return acquired;
  }

  void release() override {
    files_.probe().reach(Point::unlock, files_.shown(path_), inode_);
    // Closing is the release for all of them: DeepGEMM's destructor, GPTQModel's and filelock's LOCK_UN then close.
    // With an inherited descriptor only LOCK_UN frees it while a child lives.
    if (fd_ && choice_.kind == LockKind::flock) ::flock(fd_.get(), LOCK_UN);
    fd_.close();
    files_.announce("unlock", path_, 0);
  }

  void note_compiler(pid_t pid) override {
    if (choice_.keeps_record) record_.compiler = LockRecord::identify(pid);
    if (choice_.keeps_record) write_record();
  }
  void note_compile_time(Nanoseconds time) override {
    if (!choice_.keeps_record) return;
    record_.slowest = std::max(record_.slowest, time);
    record_.compiler = {};
    write_record();
  }

  std::uint64_t inode() const override { return inode_; }
  int descriptor() const override { return choice_.inherit == InheritLock::yes ? fd_.get() : -1; }

 private:
  enum class Announce { yes, no };

  // errno; 0 on success.
  int open_file(Announce announce) {
    const Inherit inherit = choice_.inherit == InheritLock::yes ? Inherit::yes : Inherit::no;
    const int flags = O_RDWR | O_CREAT | (choice_.reopens ? O_NOFOLLOW : 0);
    Result<Fd> fd =
        announce == Announce::yes ? files_.open(path_, flags, 0644, inherit) : open_fd(path_, flags, 0644, inherit);
    if (!fd) return fd.error().code;
    fd_ = std::move(*fd);
    struct stat s {};
    inode_ = ::fstat(fd_.get(), &s) == 0 ? s.st_ino : 0;
    return 0;
  }

  // errno; 0 on success, EWOULDBLOCK if somebody has it.
  int try_once() {
    int code = 0;
    if (choice_.kind == LockKind::flock) {
      code = ::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    } else {
      struct flock whole {};
      whole.l_type = F_WRLCK;
      whole.l_whence = SEEK_SET;
      code = ::fcntl(fd_.get(), F_OFD_SETLK, &whole) == 0 ? 0 : errno;
    }
    return code == EAGAIN || code == EACCES ? EWOULDBLOCK : code;
  }

  int block_once() {
    for (;;) {
      int code = 0;
      if (choice_.kind == LockKind::flock) {
        code = ::flock(fd_.get(), LOCK_EX) == 0 ? 0 : errno;
      } else {
        struct flock whole {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        code = ::fcntl(fd_.get(), F_OFD_SETLKW, &whole) == 0 ? 0 : errno;
      }
      if (code != EINTR) return code;
    }
  }

  Acquired block() {
    if (const int code = open_file(Announce::yes); code != 0) return fail("open", code);
    files_.probe().waiting({ConditionKind::flock, files_.shown(path_), inode_}, 0);
    const int code = block_once();
    files_.probe().wait_over(code == 0 ? WaitEnd::satisfied : WaitEnd::error);
    files_.announce(name(), path_, code);
    if (code != 0) return fail("lock", code);
    return Acquired::owner;
  }

  Acquired poll() {
    const Nanoseconds begin = now();
    Nanoseconds interval = choice_.poll;
    std::optional<std::uint64_t> waited_for;  // the inode that the wait was announced for
    bool announced = false;
    for (;; sleep_controlled(control_, interval), grow(interval)) {
      int code = 0;
      if (!fd_ || choice_.reopens) {
        fd_.close();
        code = open_file(announced ? Announce::no : Announce::yes);
      }
      if (code == 0) code = try_once();
      if (code == 0 && choice_.reopens && unlinked()) continue;
      if (code == 0 || !announced) files_.announce(name(), path_, code);
      announced = true;
      if (code == 0) {
        if (waited_for) files_.probe().wait_over(WaitEnd::satisfied);
        if (choice_.keeps_record) record_ = LockRecord::read(fd_.get());
        return Acquired::owner;
      }
      if (code != EWOULDBLOCK && choice_.on_error != LockError::contention) {
        if (waited_for) files_.probe().wait_over(WaitEnd::error);
        return fail("lock", code);
      }
      // A file made anew under the waiter is another lock: the wait for the old one is over.
      if (waited_for && *waited_for != inode_) files_.probe().wait_over(WaitEnd::error);
      if (!waited_for || *waited_for != inode_) {
        files_.probe().waiting({ConditionKind::flock, files_.shown(path_), inode_}, bound_);
        waited_for = inode_;
      }
      if (bound_ != 0 && now() - begin >= bound_ && !extended(begin)) {
        files_.probe().wait_over(WaitEnd::bound);
        return Acquired::at_bound;
      }
    }
  }

  void grow(Nanoseconds& interval) const {
    if (choice_.poll_max != 0) interval = std::min(2 * interval, choice_.poll_max);
  }

  bool unlinked() const {
    struct stat s {};
    return ::fstat(fd_.get(), &s) == 0 && s.st_nlink == 0;
  }

  // The bound follows the slowest compile seen, and a holder whose compiler lives is not given up.
  bool extended(Nanoseconds begin) {
    if (!choice_.keeps_record || !fd_) return false;
    const LockRecord record = LockRecord::read(fd_.get());
    bound_ = std::max(bound_, bound_of(choice_, record.slowest, scale_));
    return now() - begin < bound_ || record.compiler_lives();
  }

  void write_record() {
    record_.write(fd_.get());
    files_.announce("write", path_, 0);
  }

  Acquired fail(std::string_view operation, int code) {
    reason_ = make_error(operation, path_, code).message();
    fd_.close();
    return Acquired::failed;
  }

  std::string_view name() const { return choice_.kind == LockKind::flock ? "flock" : "ofd-lock"; }

  LockChoice choice_;
  std::string path_;
  Files& files_;
  const Fd& control_;
  double scale_ = 1.0;
  Fd fd_;
  std::uint64_t inode_ = 0;
  LockRecord record_;
};

}  // namespace

std::unique_ptr<Lock> make_kernel_lock(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                       Nanoseconds baseline) {
  return std::make_unique<KernelLock>(choice, path, files, job, baseline);
}

}  // namespace jitrace
