#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "process/wait_status.h"

namespace jitrace {

// The one gate to the kernel's waits. A pid stays ours exactly until one of these returns its end: whoever waits
// elsewhere could signal a stranger that got the number next. A test reads the sources for other waits.

// Blocks until the child ends, and reaps it.
Result<WaitStatus> reap(const Fd& pidfd);
// Reaps the child if it has ended.
Result<std::optional<WaitStatus>> reap_if_ended(const Fd& pidfd);

// The same for a child that this program forked itself and has a number for only (small tools; the number is ours until
// this returns).
Result<WaitStatus> reap_forked(pid_t child);

// For a process that reaps whatever it inherits.
enum class Children { none, running, ended };
struct EndedChild {
  Children left = Children::none;  // `ended`: pid and status are of a zombie that is still to be reaped
  pid_t pid = -1;
  std::optional<WaitStatus> status;
};
// Looks for a child that has ended, without reaping it.
EndedChild find_ended_child();
// Reaps a child that find_ended_child named.
void reap_ended(pid_t pid);
// Whether this is a child of ours that is not yet reaped; tells nothing else about it.
bool is_own_child(pid_t pid);

// For a tracer: every thread that it traces, and every child.
struct TraceeStop {
  pid_t thread = -1;
  int status = 0;  // as waitpid gives it: a ptrace event is in its third byte
};
enum class Blocking { no, yes };
// The next stop or end, which is reaped with it. Nothing: there is none now; with Blocking::yes, a signal came first.
// ECHILD: nobody is left.
Result<std::optional<TraceeStop>> next_tracee_stop(Blocking blocking);

}  // namespace jitrace
