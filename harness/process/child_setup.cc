#include "process/child_setup.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace jitrace {
namespace {

constexpr int signal_count = 64;
constexpr std::size_t mask_bytes = signal_count / 8;

// The kernel's own struct; libc's wrapper refuses the two signals that it keeps for itself.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  std::uint64_t mask;
};

// Whatever the driver blocks, catches or ignores (or was started with, under nohup) is no property of a trial: every
// child begins with an empty mask and default dispositions. The handlers go before the mask is lifted.
void reset_signals() {
  const KernelAction by_default{};
  for (int number = 1; number <= signal_count; ++number) {
    ::syscall(SYS_rt_sigaction, number, &by_default, nullptr, mask_bytes);
  }
  const std::uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, mask_bytes);
}

// Our own descriptors are close-on-exec as they are opened; this is for what libraries and our own parent left open.
void close_the_rest_on_exec() {
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
  for (int descriptor = 3; descriptor < end; ++descriptor) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

}  // namespace

ChildSetup::ChildSetup(const Command& command)
    : inherit_(command.inherit), group_(command.group), parent_death_signal_(command.parent_death_signal),
      descriptor_limit_(command.descriptor_limit), parent_(::getpid()) {
  const auto add = [this](int from, int to) {
    if (from >= 0) moves_.push_back({from, to});
  };
  add(command.in, STDIN_FILENO);
  add(command.out, STDOUT_FILENO);
  add(command.err, STDERR_FILENO);
  for (const Command::Place& place : command.place) add(place.from, place.to);
  for (const Move& move : moves_) first_free_ = std::max(first_free_, move.to + 1);
  sources_.resize(moves_.size());
  if (!command.directory.empty()) directory_ = command.directory.c_str();
}

int ChildSetup::place_descriptors() const {
  // A source below first_free_ may be another move's target: it is copied out of the way first.
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    sources_[i] = moves_[i].from;
    if (moves_[i].from < first_free_ && moves_[i].from != moves_[i].to) {
      sources_[i] = ::fcntl(moves_[i].from, F_DUPFD_CLOEXEC, first_free_);
    }
    if (sources_[i] < 0) return errno;
  }
  close_the_rest_on_exec();
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const int rc = sources_[i] == moves_[i].to ? ::fcntl(sources_[i], F_SETFD, 0) : ::dup2(sources_[i], moves_[i].to);
    if (rc < 0) return errno;
  }
  for (const int descriptor : inherit_) {
    if (::fcntl(descriptor, F_SETFD, 0) != 0) return errno;
  }
  return 0;
}

int ChildSetup::apply() const {
  if (group_ == Command::Group::own_group && ::setpgid(0, 0) != 0) return errno;
  if (group_ == Command::Group::own_session && ::setsid() < 0) return errno;
  if (parent_death_signal_) {
    if (::prctl(PR_SET_PDEATHSIG, *parent_death_signal_) != 0) return errno;
    // The parent may have ended just before: then nobody would ever send the signal.
    if (::getppid() != parent_) return ESRCH;
  }
  if (const int code = place_descriptors(); code != 0) return code;
  if (descriptor_limit_) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(*descriptor_limit_, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  }
  if (directory_ != nullptr && ::chdir(directory_) != 0) return errno;
  reset_signals();
  return 0;
}

SignalsBlocked::SignalsBlocked() {
  const std::uint64_t all = ~std::uint64_t{0};
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, mask_bytes);
}

SignalsBlocked::~SignalsBlocked() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, mask_bytes); }

}  // namespace jitrace
