#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

#include "base/result.h"
#include "trace/call.h"

namespace jitrace {

// The registers of a stopped thread, as far as system calls go. x86-64: another architecture is another registers.cc.
class Registers {
 public:
  static Result<Registers> read(pid_t thread);
  Result<void> write(pid_t thread) const;

  RawCall call() const;                       // before the call
  std::int64_t result() const;                // after it
  std::uint64_t stack() const { return regs_.rsp; }

  void set_result(std::int64_t result);       // after it: the kernel may still restart it
  void set_argument(int index, std::uint64_t value);
  // Before the call: it is not made and answers `result`. After it: it answers `result`, and is not restarted.
  void answer(std::int64_t result);
  // After the call: it will be made again, with these arguments.
  void repeat(const RawCall& call);

 private:
  user_regs_struct regs_{};
};

}  // namespace jitrace
