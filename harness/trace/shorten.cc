#include "trace/shorten.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "trace/call_table.h"

namespace jitrace {
namespace {

// writev, pwritev, pwritev2: the list and its length.
constexpr int list_at = 1, length_at = 2;
constexpr std::uint64_t longest_list = 1024;  // the kernel's own limit

}  // namespace

Result<Shortened> shorten(const Call& call, std::uint64_t bytes, Registers& regs, const TraceeMemory& memory) {
  const CallRow* row = find_call(call.raw.number);
  if (row != nullptr && row->size >= 0) {
    regs.set_argument(row->size, std::min(bytes, call.raw.args[static_cast<std::size_t>(row->size)]));
    return Shortened{};
  }
  if (row == nullptr || row->op != Op::write) return make_error("cut short", call.name, EOPNOTSUPP);
  Shortened before{std::string(std::min(call.raw.args[length_at], longest_list) * sizeof(iovec), '\0')};
  TRY(memory.read(call.raw.args[list_at], before.list.data(), before.list.size()));
  std::vector<iovec> list(before.list.size() / sizeof(iovec));
  std::memcpy(list.data(), before.list.data(), before.list.size());
  std::uint64_t rest = bytes;
  for (iovec& part : list) {
    part.iov_len = std::min<std::uint64_t>(part.iov_len, rest);
    rest -= part.iov_len;
  }
  TRY(memory.write(call.raw.args[list_at], list.data(), before.list.size()));
  return before;
}

Result<void> restore(const Call& call, const Shortened& shortened, Registers& regs, const TraceeMemory& memory) {
  const CallRow* row = find_call(call.raw.number);
  if (row != nullptr && row->size >= 0) regs.set_argument(row->size, call.raw.args[static_cast<std::size_t>(row->size)]);
  if (shortened.list.empty()) return {};
  return memory.write(call.raw.args[list_at], shortened.list.data(), shortened.list.size());
}

}  // namespace jitrace
