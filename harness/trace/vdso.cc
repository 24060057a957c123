#include "trace/vdso.h"

#include <elf.h>

#include <cstdint>
#include <optional>

#include "trace/registers.h"
#include "trace/tracee_memory.h"

namespace jitrace {

void hide_vdso(pid_t thread) {
  const auto regs = Registers::read(thread);
  if (!regs) return;
  const TraceeMemory memory(thread);
  std::uint64_t at = regs->stack();
  const auto word = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    if (!memory.read(at, &value, sizeof value)) return std::nullopt;
    at += sizeof value;
    return value;
  };
  const auto count = word();
  if (!count) return;
  at += (*count + 1) * sizeof(std::uint64_t);
  for (auto variable = word(); variable && *variable != 0; variable = word()) {
  }
  for (;;) {
    const std::uint64_t entry = at;
    const auto type = word();
    const auto value = word();
    if (!type || !value || *type == AT_NULL) return;
    if (*type != AT_SYSINFO_EHDR) continue;
    const std::uint64_t ignore = AT_IGNORE;
    (void)memory.write(entry, &ignore, sizeof ignore);
    return;
  }
}

}  // namespace jitrace
