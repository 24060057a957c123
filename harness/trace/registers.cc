#include "trace/registers.h"

#include <sys/ptrace.h>

#include <cerrno>
#include <string>

namespace jitrace {
namespace {

unsigned long long user_regs_struct::* const arguments[] = {&user_regs_struct::rdi, &user_regs_struct::rsi,
                                                            &user_regs_struct::rdx, &user_regs_struct::r10,
                                                            &user_regs_struct::r8,  &user_regs_struct::r9};
constexpr unsigned instruction_size = 2;  // of `syscall`

}  // namespace

Result<Registers> Registers::read(pid_t thread) {
  Registers out;
  if (::ptrace(PTRACE_GETREGS, thread, nullptr, &out.regs_) != 0) return last_error("read registers of", std::to_string(thread));
  return out;
}

Result<void> Registers::write(pid_t thread) const {
  user_regs_struct copy = regs_;
  // ESRCH: it was killed; its end comes as a stop of its own.
  if (::ptrace(PTRACE_SETREGS, thread, nullptr, &copy) != 0 && errno != ESRCH) return last_error("set registers of", std::to_string(thread));
  return {};
}

RawCall Registers::call() const {
  RawCall call;
  call.number = regs_.orig_rax;
  for (std::size_t i = 0; i < call.args.size(); ++i) call.args[i] = regs_.*arguments[i];
  return call;
}

std::int64_t Registers::result() const { return static_cast<std::int64_t>(regs_.rax); }

void Registers::set_result(std::int64_t result) { regs_.rax = static_cast<unsigned long long>(result); }

void Registers::set_argument(int index, std::uint64_t value) { regs_.*arguments[index] = value; }

void Registers::answer(std::int64_t result) {
  regs_.orig_rax = ~0ULL;  // no call: the kernel makes none, and restarts none
  regs_.rax = static_cast<unsigned long long>(result);
}

void Registers::repeat(const RawCall& call) {
  for (std::size_t i = 0; i < call.args.size(); ++i) regs_.*arguments[i] = call.args[i];
  regs_.rax = call.number;
  regs_.orig_rax = ~0ULL;
  regs_.rip -= instruction_size;
}

}  // namespace jitrace
