#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "strategy/files.h"
#include "strategy/job.h"
#include "strategy/preset.h"

namespace jitrace {

// What came of asking for a lock.
enum class Acquired {
  owner,     // ours until release()
  loser,     // somebody else had it and is done: a baton's loser does not build
  at_bound,  // the bound passed
  failed,    // the lock call itself failed, and the choice says not to wait for it; reason() tells
};

// One lock of one key. Announces its points (lock_wait, lock_held, unlock), waits and file operations. Destroying a
// held lock gives it back without a word, as the end of its process would: a kernel lock is free then, a baton stays.
class Lock {
 public:
  virtual ~Lock() = default;
  virtual Acquired acquire() = 0;
  virtual void release() = 0;

  // The holder's compiler, for those who keep a record in the lock file.
  virtual void note_compiler(pid_t) {}
  virtual void note_compile_time(Nanoseconds) {}

  virtual std::uint64_t inode() const = 0;
  virtual int descriptor() const { return -1; }  // what a child inherits, where the choice says so
  const std::string& reason() const { return reason_; }
  Nanoseconds bound() const { return bound_; }

 protected:
  Nanoseconds bound_ = 0;
  std::string reason_;
};

// `baseline`: what a compile of this key takes, for bounds that grow with it; 0 if not known.
std::unique_ptr<Lock> make_lock(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                Nanoseconds baseline);

std::unique_ptr<Lock> make_baton(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                 Nanoseconds baseline);
// flock(2) or, for LockKind::ofd, fcntl(F_OFD_SETLK).
std::unique_ptr<Lock> make_kernel_lock(const LockChoice& choice, const std::string& path, Files& files, const Job& job,
                                       Nanoseconds baseline);

}  // namespace jitrace
