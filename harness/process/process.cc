#include "process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "process/launch.h"
#include "process/proc.h"
#include "process/reaper.h"

namespace jitrace {

Process::Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), ended_(std::exchange(other.ended_, {})) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    const Process before(std::move(*this));  // its destructor ends what we held
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    ended_ = std::exchange(other.ended_, {});
  }
  return *this;
}

Process::~Process() {
  if (!pidfd_ || ended_) return;
  // Both can only fail if somebody else reaped our child; it is gone then, which is all that a destructor promises.
  (void)send_signal(pidfd_, SIGKILL);
  (void)reap(pidfd_);
}

Result<Process> Process::spawn(const Command& command) {
  TRY_ASSIGN(Launched launched, launch(command));
  return Process(launched.pid, std::move(launched.pidfd));
}

Result<void> Process::signal(int number) {
  if (!pidfd_ || ended_) return make_error("signal a process", {}, ESRCH);
  return send_signal(pidfd_, number);
}

Result<WaitStatus> Process::wait() {
  if (!ended_) {
    TRY_ASSIGN(ended_, reap(pidfd_));
  }
  return *ended_;
}

Result<std::optional<WaitStatus>> Process::poll() {
  if (!ended_) {
    TRY_ASSIGN(ended_, reap_if_ended(pidfd_));
  }
  return ended_;
}

void Process::release() {
  pid_ = -1;
  pidfd_.close();
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  const auto name_of_assignment = [](std::string_view text) { return text.substr(0, text.find('=')); };
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& change : changes) replaced |= name_of_assignment(change) == name_of_assignment(*entry);
    if (!replaced) environment.emplace_back(*entry);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != std::string::npos) environment.push_back(change);
  }
  return environment;
}

Result<Finished> run_to_end(Command command) {
  constexpr std::size_t output_limit = 1 << 20;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error("create a pipe");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  TRY_ASSIGN(const Fd null, open_fd("/dev/null", O_RDONLY));
  if (command.in < 0) command.in = null.get();
  command.out = command.err = writer.get();
  TRY_ASSIGN(Process process, Process::spawn(command));
  writer.close();

  // A descendant may keep the pipe open after the tool's end: what is in it by then is the tool's output.
  std::string output;
  char buffer[65536];
  for (;;) {
    pollfd fds[] = {{reader.get(), POLLIN, 0}, {process.pidfd().get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) return last_error("poll");
    if (fds[0].revents == 0) {
      if (fds[1].revents != 0) break;
      continue;
    }
    const ssize_t n = ::read(reader.get(), buffer, sizeof buffer);
    if (n == 0) break;
    if (n > 0) output.append(buffer, std::min(static_cast<std::size_t>(n), output_limit - output.size()));
    else if (errno != EINTR) return last_error("read from a pipe");
  }
  TRY_ASSIGN(const WaitStatus status, process.wait());
  return Finished{status, std::move(output)};
}

}  // namespace jitrace
