#include "strategy/lock/record.h"

#include <unistd.h>

#include "base/text.h"
#include "process/proc.h"

namespace jitrace {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace

LockRecord::Who LockRecord::identify(pid_t pid) {
  const std::optional<ProcStat> stat = proc_stat(pid);
  return stat ? Who{host_name(), pid, stat->start_ticks} : Who{};
}

LockRecord LockRecord::read(int fd) {
  char buffer[512];
  const ssize_t n = ::pread(fd, buffer, sizeof buffer, 0);
  if (n <= 0) return {};
  const std::string text(buffer, static_cast<std::size_t>(n));
  const std::vector<std::string> words = split(text.substr(0, text.find('\n')), ' ');
  if (words.size() != 4) return {};
  LockRecord record;
  record.slowest = parse_int(words[0]).value_or(0);
  record.compiler.host = words[1];
  record.compiler.pid = static_cast<pid_t>(parse_int(words[2]).value_or(0));
  record.compiler.start_ticks = static_cast<std::uint64_t>(parse_int(words[3]).value_or(0));
  return record;
}

void LockRecord::write(int fd) const {
  const std::string host = compiler.host.empty() ? "-" : compiler.host;
  const std::string text = std::to_string(slowest) + " " + host + " " + std::to_string(compiler.pid) + " " +
                           std::to_string(compiler.start_ticks) + "\n";
  if (::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    [[maybe_unused]] const int cut = ::ftruncate(fd, static_cast<off_t>(text.size()));
  }
}

bool LockRecord::compiler_lives() const {
  if (compiler.pid == 0 || compiler.host != host_name()) return false;
  const std::optional<ProcStat> stat = proc_stat(compiler.pid);
  return stat && stat->start_ticks == compiler.start_ticks && stat->state != 'Z';
}

}  // namespace jitrace
