#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trace/call.h"
#include "trace/tape.h"
#include "trace/tape_store.h"

namespace jitrace {

// Watches one process from its exec to its end and makes a tape of it. What cannot be done again is refused: a child, a
// lock, a listed directory, a shared writable mapping, a descriptor that came on a way that no stop tells of.
class TapeLearner {
 public:
  explicit TapeLearner(TapeKey key);

  // The thread stands before the call, or after it, or leaves it.
  void before(pid_t thread, const Call& call);
  void at_cache(pid_t thread);  // the call that it stands before is one at the cache: it has to be made again
  void after(pid_t thread, std::int64_t result);
  void refuse(const std::string& why);  // the first reason stays
  const std::string& refused() const { return refused_; }
  const TapeKey& key() const { return key_; }

  // It has ended well. Nothing, and a reason in refused(): it is not to be trusted.
  std::optional<Tape> finish();

 private:
  using File = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
  struct Pending {
    Call call;
    std::string path, path2;  // absolute
    bool at_cache = false;
    bool existed = false;
    int handle = -1;
    std::int64_t offset = -1;  // of a write
    std::string bytes;
  };
  struct Open {
    int handle = -1;
    File file{};
    bool kept = false;  // its open is on the tape
    bool regular = false;
  };

  void note_input(const std::string& path);
  void look(const Pending& pending, const std::string& path);
  void before_by_descriptor(pid_t thread, Pending& pending);
  void before_write(pid_t thread, Pending& pending);
  void opened(pid_t thread, const Pending& pending, std::int64_t result);
  void written(const Pending& pending, std::int64_t result);
  void closed(const Pending& pending, std::int64_t result);
  void changed_names(const Pending& pending, std::int64_t result);
  void add(TapeStep::Op op, const Pending& pending, std::int64_t number = 0, std::int64_t number2 = 0);
  bool is_left_as_written();

  TapeKey key_;
  Tape tape_;
  std::string refused_;
  std::map<pid_t, Pending> pending_;
  std::map<int, Open> open_;  // by descriptor
  int next_handle_ = 3;
  std::set<std::string> seen_;               // paths whose first state is known, or does not matter
  std::map<std::string, TapeInput> inputs_;  // by absolute path, as it was when it was opened
  std::map<File, std::string> contents_;     // of what it wrote, by its own account
  std::map<std::string, File> outputs_;      // where those lie now
};

}  // namespace jitrace
