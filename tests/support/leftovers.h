#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace jitrace::test {

// What a run could leave behind, found from outside: by the marker that its driver was started with (every descendant
// inherits the environment) and by the directory that it worked in.
struct Leftovers {
  std::string marker;     // "NAME=value"
  std::string directory;  // the run's and the caches' directories lie below it

  // "pid arguments" of every process that carries the marker, or names the directory in its arguments, stands in it or
  // has a file of it open.
  std::vector<std::string> processes() const;
  // Waits until there are none, for at most `patience`, on the ends of those that there are. Returns who is left.
  std::vector<std::string> wait_for_processes(Nanoseconds patience) const;
  // Ends them, so that a test that failed leaves nothing either.
  void kill_processes() const;
  // Lines of /proc/locks on files below the directory, or held by one of those processes.
  std::vector<std::string> locks() const;
  // Mount points at or below the directory, but for `expected`.
  std::vector<std::string> mounts(const std::vector<std::string>& expected = {}) const;
};

// Entries of `directory` that start with jitrace-: caches of runs.
std::vector<std::string> caches_in(const std::string& directory);

}  // namespace jitrace::test
