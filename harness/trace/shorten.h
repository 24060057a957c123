#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/call.h"
#include "trace/registers.h"
#include "trace/tracee_memory.h"

namespace jitrace {

// What a shortened call is put back from: the list that it gathered from, byte by byte; empty where it has none.
struct Shortened {
  std::string list;
};

// Before a write or a copy: makes it one of `bytes` bytes at most, by its registers and, where it gathers from several
// places (writev), by that list in the caller's memory. EOPNOTSUPP: a call whose size nobody says (a FICLONE).
Result<Shortened> shorten(const Call& call, std::uint64_t bytes, Registers& regs, const TraceeMemory& memory);
// After it: registers and list as the caller left them.
Result<void> restore(const Call& call, const Shortened& shortened, Registers& regs, const TraceeMemory& memory);

}  // namespace jitrace
