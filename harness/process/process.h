#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "process/wait_status.h"

namespace jitrace {

// What to start. Descriptors are borrowed for the call; -1 leaves the parent's own. Everything else that is open in the
// parent is closed, unless listed in `inherit` (same number in the child) or `place`. The child has an empty signal
// mask and default dispositions, whatever the parent has.
struct Command {
  std::vector<std::string> argv;                 // argv[0] is looked up on PATH (the child's own) if it holds no '/'
  std::vector<std::string> environment;          // complete, "NAME=value"; empty: the parent's own
  std::string directory;                         // empty: the parent's own
  int in = -1;
  int out = -1;
  int err = -1;
  std::vector<int> inherit;
  struct Place { int from; int to; };            // descriptor `from` becomes `to` in the child
  std::vector<Place> place;
  enum class Group { parents, own_group, own_session } group = Group::parents;
  std::optional<int> parent_death_signal;        // PDEATHSIG for the direct child; it follows the thread that starts it
  std::optional<std::uint64_t> descriptor_limit; // soft RLIMIT_NOFILE; the parent's own if not set
};

// A child process we started. Owns its pidfd: the number in pid() may be printed, never signalled.
// Destroying a Process that still runs kills it and reaps it, so nothing is left behind.
class Process {
 public:
  // Starts `command` without copying the parent's page tables (vfork semantics), through Boost.Process with our
  // launcher. Fails with the child's own errno if exec fails; no child remains then.
  static Result<Process> spawn(const Command& command);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;  // ends the process it held before
  ~Process();

  Result<void> signal(int number);               // ESRCH means: already reaped, by us
  Result<WaitStatus> wait();                     // blocks until it ends; remembers the status
  Result<std::optional<WaitStatus>> poll();      // does not block
  const Fd& pidfd() const { return pidfd_; }     // readable once the child has ended
  pid_t pid() const { return pid_; }
  void release();                                // somebody else reaps it (the guard's reaper); forget it

 private:
  Process(pid_t pid, Fd pidfd);
  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<WaitStatus> ended_;
};

// This process's environment with `changes` laid over it ("NAME=value"; "NAME" alone removes it).
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

// Starts, waits, returns status and both outputs together, cut at 1 MiB. For tools that are quick (version probes).
struct Finished { WaitStatus status; std::string output; };
Result<Finished> run_to_end(Command command);

}  // namespace jitrace
