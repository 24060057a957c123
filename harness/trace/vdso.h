#pragma once

#include <sys/types.h>

namespace jitrace {

// Without a vDSO every read of a clock is a system call, so it can be answered. For a traced thread that stands at its
// exec; one that cannot be read or written keeps its vDSO.
void hide_vdso(pid_t thread);

}  // namespace jitrace
