#pragma once

#include "base/clock.h"
#include "trace/traced_process.h"

namespace jitrace {

enum class Changed { no, yes };

// Who decides about the calls of a traced run and writes down what came of them. Called by the supervisor, one call at a
// time; may kill from within.
class Director {
 public:
  virtual ~Director() = default;

  virtual Ruling before(const TracedCall& call) = 0;
  // `result`: what the caller sees, -errno for an error. Not called for one that was killed before.
  virtual void after(const TracedCall& call, std::int64_t result, Changed changed) = 0;
  virtual void started(const TracedProcess& process) = 0;   // was forked, or has a new program
  virtual void ended(const TracedProcess& process) = 0;
  virtual void parked(const TracedCall& call) = 0;          // a lock that is not free
  virtual void passed(Nanoseconds time) = 0;                // nobody could move for so long, so the clocks were moved on
  virtual void bypassed(const TracedProcess& process, const std::string& how) = 0;  // on a way that is not followed
};

}  // namespace jitrace
