#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "process/process.h"
#include "process/wait_status.h"

namespace jitrace {

// What the guard tells the driver, in the order in which it happened.
struct GuardEvent {
  enum class Kind {
    started,      // id, pid
    not_started,  // id, error; text: the whole sentence
    ended,        // id, pid, status: a process that was asked for
    adopted,      // pid, text: arguments. A descendant whose parent ended and that the guard inherited
    adopted_ended,  // pid, status
    swept,        // nobody is left; count: how many had to be killed for it
  };
  Kind kind;
  std::uint32_t id = 0;
  pid_t pid = -1;
  std::int64_t stamp = 0;  // CLOCK_MONOTONIC, taken by the guard
  std::optional<WaitStatus> status;
  int count = 0;
  int error = 0;           // not_started: errno
  std::string text;
};

// One line of /proc about a process below the guard.
struct Descendant {
  pid_t pid = -1;
  pid_t parent = -1;
  char state = '?';               // R S D T t Z, as in /proc/pid/stat
  std::uint64_t cpu_ticks = 0;    // user + system, clock ticks
  std::string arguments;          // spaces between, cut at 4 KiB
  std::string wait_channel;
};

// The driver's handle on a lane's guard: a small process that is sub-reaper and parent of every process of the lane. It
// lives as long as the lane and holds one end of a socket; when the other end closes, for whatever reason (SIGKILL of
// the driver too), it freezes, kills and reaps all its descendants until there is nobody left, removes the `scrap`
// directories, and exits.
class Guard {
 public:
  static Result<Guard> start(const std::string& guard_program);
  Guard(Guard&&) noexcept = default;
  Guard& operator=(Guard&&) = delete;
  ~Guard();                                           // closes the socket and waits until the guard has ended

  // Asks for a process; the answer comes as an event with this id. Ids are the caller's and stay unique in a lane.
  struct Start {
    std::uint32_t id = 0;
    std::vector<std::string> argv;
    std::vector<std::string> environment;             // complete
    std::string directory;
    std::string output;                               // file for stdout and stderr, appended; empty: /dev/null
  };
  // The process leads its own group, reads /dev/null, and dies with the guard should somebody kill that.
  Result<void> start_process(const Start& start);
  // To that process alone, at once, through the pidfd that came with `started`. ESRCH: it has ended already (or was
  // never asked for); EAGAIN: it has been asked for, but receive() has not yet said that it started.
  Result<void> signal(std::uint32_t id, int number);
  // To the group that the process leads. The guard sends it, and drops it if the leader has been reaped.
  Result<void> signal_group(std::uint32_t id, int number);
  // Freezes, kills and reaps every descendant until there is none; `swept` follows.
  Result<void> sweep();
  // Directories that must not outlive the driver unless it takes them back.
  Result<void> add_scrap(const std::string& directory);
  Result<void> drop_scrap(const std::string& directory);

  const Fd& socket() const { return socket_; }        // readable: call receive
  Result<std::vector<GuardEvent>> receive();          // never blocks; an error means that the guard is gone
  pid_t pid() const;
  // Everybody below the guard now (not the guard itself).
  std::vector<Descendant> descendants() const;

 private:
  Guard(Process process, Fd socket);
  Process process_;
  Fd socket_;
  std::map<std::uint32_t, Fd> running_;               // no descriptor: asked for, not yet reported
};

// The guard program's main loop, on the socket that it inherited as descriptor 3. `descriptor_limit`: what its
// processes get as their soft RLIMIT_NOFILE (the guard and the driver raise their own). Returns its exit code.
int guard_main(std::uint64_t descriptor_limit);

}  // namespace jitrace
