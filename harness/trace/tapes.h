#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "process/wait_status.h"
#include "trace/call.h"
#include "trace/registers.h"
#include "trace/tape_learner.h"
#include "trace/tape_store.h"

namespace jitrace {

// The replayed compiler, as the supervisor sees it: of the programs that compile, assemble and link (those that start
// no other; drivers run as they are) it makes tapes, and where a tape fits it has the player executed instead, under
// the program's name and with its arguments. Where none fits the program itself runs, and is learnt from.
class Tapes {
 public:
  enum class Use { learn, learn_and_play };
  Tapes(TapeStore store, Use use) : store_(std::move(store)), use_(use) {}

  // The thread stands before execve.
  Result<void> before_exec(pid_t thread, int process, Registers regs, const Call& call);
  // It has a new program. Whether that is the player.
  bool replaced(int process);
  void ended(int process, WaitStatus status);

  // Of a process that is learnt from every call is told, and how it came out.
  bool learns(int process) const { return learners_.contains(process); }
  void before(int process, pid_t thread, const Call& call);
  void at_cache(int process, pid_t thread);
  void after(int process, pid_t thread, std::int64_t result);
  void refuse(int process, const std::string& why);

 private:
  void add_stems_of_parents(pid_t pid, TapeNames& names);
  TapeStore store_;
  Use use_;
  std::map<int, std::unique_ptr<TapeLearner>> starting_, learners_;
  std::set<int> to_play_;
  std::vector<std::string> stems_;  // of nvcc, that it has put into arguments
};

}  // namespace jitrace
