#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "process/process.h"
#include "trace/scope.h"

namespace jitrace {

// How often a program made each of its calls at the cache or at a lock, and together.
struct PlainCount {
  std::size_t calls = 0;
  std::map<std::string, std::size_t> by_what;  // keyed like RecordedCall::what
  std::set<std::string> again;                 // looks that one thread took again
  std::optional<WaitStatus> end;               // of the program itself, not of what it started
};

// Counts what a recording should have seen, by a tracer of its own: each system call of the whole tree stops twice,
// without a filter, nothing is steered, locks block in the kernel and time is the machine's. It has the decoder in
// common with the supervisor, and the rules of what lies in the cache, but none of what a Scope remembers.
// A call counts once it has returned: one that a signal cut short and that is made again counts once, one that its
// process did not live to see the end of does not.
// Ends with the last process of the tree; it waits for every child of this process. ETIMEDOUT: the tree still ran when
// `limit` of real time had passed, and was killed.
Result<PlainCount> plain_count(const Command& command, Scope scope, Nanoseconds limit);

}  // namespace jitrace
