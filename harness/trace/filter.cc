#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include <cstddef>
#include <initializer_list>
#include <span>

#include "base/check.h"
#include "trace/call_table.h"
#include "trace/decode.h"

namespace jitrace {
namespace {

constexpr std::uint32_t allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t trace = SECCOMP_RET_TRACE;
// Numbers of the x32 calls have this bit; -1, which a tracer or a careless program asks for, has it too.
constexpr std::uint32_t x32_bit = 0x40000000;
constexpr std::uint32_t no_call = 0xffffffff;

constexpr std::uint16_t load_word = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t if_equal = BPF_JMP | BPF_JEQ | BPF_K;
constexpr std::uint16_t if_at_least = BPF_JMP | BPF_JGE | BPF_K;
constexpr std::uint16_t if_any_bit = BPF_JMP | BPF_JSET | BPF_K;

using Program = std::vector<sock_filter>;

void load(Program& to, std::size_t offset) {
  to.push_back({load_word, 0, 0, static_cast<std::uint32_t>(offset)});
}
// The low half: every flag that is asked about is an int to the kernel.
void load_argument(Program& to, std::size_t index) { load(to, offsetof(seccomp_data, args) + 8 * index); }
void answer(Program& to, std::uint32_t action) { to.push_back({BPF_RET | BPF_K, 0, 0, action}); }
// Skips one instruction unless the test holds.
void when(Program& to, std::uint16_t test, std::uint32_t value) { to.push_back({test, 0, 1, value}); }
void unless(Program& to, std::uint16_t test, std::uint32_t value) { to.push_back({test, 1, 0, value}); }

void trace_if_one_of(Program& to, std::size_t index, std::initializer_list<std::uint32_t> values) {
  load_argument(to, index);
  for (const std::uint32_t value : values) {
    when(to, if_equal, value);
    answer(to, trace);
  }
  answer(to, allow);
}

// What answers for calls with this condition.
void decide(Program& to, When condition) {
  switch (condition) {
    case When::always:
    case When::with_clocks:
      answer(to, trace);
      return;
    case When::shared_file:
      load_argument(to, 3);
      unless(to, if_any_bit, MAP_SHARED);  // MAP_SHARED_VALIDATE has the bit, too
      answer(to, allow);
      when(to, if_any_bit, MAP_ANONYMOUS);
      answer(to, allow);
      answer(to, trace);
      return;
    case When::lock_command:
      trace_if_one_of(to, 1, {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW});
      return;
    case When::clone_command:
      trace_if_one_of(to, 1, {FICLONE, FICLONERANGE});
      return;
    case When::trace_request:
      trace_if_one_of(to, 0, {PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE});
      return;
    case When::listener:
      load_argument(to, 0);
      unless(to, if_equal, SECCOMP_SET_MODE_FILTER);
      answer(to, allow);
      load_argument(to, 1);
      when(to, if_any_bit, SECCOMP_FILTER_FLAG_NEW_LISTENER);
      answer(to, trace);
      answer(to, allow);
      return;
  }
}

// From `first` up to the next range, all calls are answered alike.
struct Range {
  std::uint32_t first = 0;
  const CallRow* row = nullptr;  // of one call with a condition, or of the first of a run without; none: let through
};

std::vector<Range> ranges(Stops stops) {
  std::vector<Range> found;
  std::uint32_t next = 0;
  bool run_goes_on = false;
  for (const CallRow& row : call_table()) {
    if (row.when == When::with_clocks && stops == Stops::files) continue;
    const bool plain = row.when == When::always || row.when == When::with_clocks;
    if (row.number > next) found.push_back({next, nullptr});
    if (row.number > next || !plain || !run_goes_on) found.push_back({row.number, &row});
    run_goes_on = plain;
    next = row.number + 1;
  }
  found.push_back({next, nullptr});
  return found;
}

// A binary search: whatever the call, seven comparisons or so. A kernel since 5.11 need not even run them for calls
// that are always let through: it tries each number once, when the filter is installed, and remembers.
Program search(std::span<const Range> among) {
  Program program;
  if (among.size() == 1) {
    if (among[0].row == nullptr) answer(program, allow);
    else decide(program, among[0].row->when);
    return program;
  }
  const std::size_t half = among.size() / 2;
  const Program low = search(among.first(half));
  const Program high = search(among.subspan(half));
  JITRACE_CHECK(low.size() < 256);  // what a conditional jump of BPF can skip
  program.push_back({if_at_least, static_cast<std::uint8_t>(low.size()), 0, among[half].first});
  program.insert(program.end(), low.begin(), low.end());
  program.insert(program.end(), high.begin(), high.end());
  return program;
}

}  // namespace

std::vector<sock_filter> build_filter(Stops stops) {
  Program program;
  load(program, offsetof(seccomp_data, arch));
  unless(program, if_equal, call_table_architecture());
  answer(program, trace | foreign_call);
  load(program, offsetof(seccomp_data, nr));
  program.push_back({if_at_least, 0, 3, x32_bit});
  when(program, if_equal, no_call);
  answer(program, allow);
  answer(program, trace | foreign_call);
  const Program calls = search(ranges(stops));
  program.insert(program.end(), calls.begin(), calls.end());
  return program;
}

}  // namespace jitrace
