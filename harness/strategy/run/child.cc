#include "strategy/run/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "strategy/control.h"

namespace jitrace {
namespace {

constexpr std::size_t output_limit = 1 << 20;

Condition child_of(const Process& process) {
  return {ConditionKind::child, {}, static_cast<std::uint64_t>(process.pid())};
}

Result<WaitStatus> reap(Process& process, Probe& probe, const Fd& control) {
  wait_controlled(control, process.pidfd().get(), -1);
  Result<WaitStatus> status = process.wait();
  probe.wait_over(status ? WaitEnd::satisfied : WaitEnd::error);
  return status;
}

}  // namespace

Result<std::vector<std::string>> build_environment(const Build& build, const Job& job) {
  TRY(make_dirs(build.scratch));
  if (!build.environment.empty()) {
    std::vector<std::string> environment = build.environment;
    std::erase_if(environment, [](const std::string& setting) { return setting.starts_with("TMPDIR="); });
    environment.push_back("TMPDIR=" + build.scratch);
    return environment;
  }
  const Attempt attempt{build.attempt, build.key, build.scratch};
  TRY_ASSIGN(std::vector<std::string> changes, attempt_environment(job.toolchain, attempt, job.shadow));
  if (!job.board.empty()) changes.push_back("JITRACE_BOARD=" + job.board);
  changes.push_back("JITRACE_KEY=" + std::to_string(build.key));
  changes.push_back("JITRACE_SLOT=" + std::to_string(job.slot));
  changes.push_back("JITRACE_CLIENT=" + std::to_string(job.client));
  changes.push_back("JITRACE_FAKE_NS=" + std::to_string(job.fake_duration));
  return environment_with(changes);
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error("create pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<WaitStatus> wait_for(Process& process, Probe& probe, const Fd& control) {
  probe.waiting(child_of(process), 0);
  return reap(process, probe, control);
}

Result<WaitStatus> read_to_end(Process& process, const Fd& pipe, std::string* output, Probe& probe, const Fd& control) {
  probe.waiting(child_of(process), 0);
  for (;;) {
    wait_controlled(control, pipe.get(), -1);
    char buffer[4096];
    const ssize_t n = ::read(pipe.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (output->size() < output_limit) output->append(buffer, static_cast<std::size_t>(n));
  }
  return reap(process, probe, control);
}

}  // namespace jitrace
