#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "process/guard.h"
#include "process/guard_wire.h"
#include "process/launch.h"
#include "process/proc.h"
#include "process/reaper.h"

namespace jitrace {
namespace {

using guard_wire::Reader;
using guard_wire::Request;

// A process by name: numbers are given anew, but not within one tick of the clock.
using Name = std::pair<pid_t, std::uint64_t>;

class GuardLoop {
 public:
  GuardLoop(Fd socket, Fd signals, std::uint64_t descriptor_limit)
      : socket_(std::move(socket)), signals_(std::move(signals)), descriptor_limit_(descriptor_limit) {}

  int run();

 private:
  void wait();
  void read_requests();
  void obey(std::string_view request);
  void start(Reader& reader);
  void signal_group(std::uint32_t id, int number);

  void reap_ended_children();
  void adopt(pid_t pid);
  void look_for_orphans();

  void begin_sweep();
  void go_on_sweeping();
  void freeze_and_kill();

  void tell(GuardEvent event, Fd attached = Fd());
  void flush();

  Fd socket_;
  Fd signals_;
  std::uint64_t descriptor_limit_;

  std::map<pid_t, std::uint32_t> started_;       // not yet reaped, so that their numbers are theirs
  std::set<pid_t> adopted_;                      // likewise
  Children children_ = Children::none;           // as the last look found it; `ended`: there are more to reap
  bool reaped_ = false;                          // somebody ended since the last look for orphans

  bool closing_ = false;                         // the driver is gone
  bool sweeping_ = false;
  std::set<Name> killed_;                        // by this sweep
  std::set<pid_t> dying_;                        // of those, not yet reaped
  int killed_alive_ = 0;
  std::map<pid_t, std::string> arguments_;       // of those, while they had any

  struct Outgoing {
    std::string data;
    Fd attached;
  };
  std::deque<Outgoing> outgoing_;
  std::vector<std::string> scrap_;
};

int GuardLoop::run() {
  for (;;) {
    wait();
    if (!closing_) read_requests();
    reap_ended_children();
    if (closing_) begin_sweep();
    if (sweeping_) go_on_sweeping();
    else if (std::exchange(reaped_, false)) look_for_orphans();
    if (closing_ && !sweeping_) break;
    flush();
  }
  int code = 0;
  for (const std::string& directory : scrap_) {
    if (!remove_tree(directory)) code = 1;
  }
  return code;
}

void GuardLoop::wait() {
  const auto wanted = static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT);
  pollfd fds[] = {{closing_ ? -1 : socket_.get(), wanted, 0}, {signals_.get(), POLLIN, 0}};
  const bool more_to_do = children_ == Children::ended || (closing_ && !sweeping_);
  while (::poll(fds, 2, more_to_do ? 0 : -1) < 0 && errno == EINTR) {
  }
  // Emptied before the children are looked at: who ends after that look rings again.
  signalfd_siginfo info[16];
  while (::read(signals_.get(), info, sizeof info) > 0) {
  }
}

void GuardLoop::read_requests() {
  for (;;) {
    const auto message = guard_wire::receive_message(socket_);
    if (!message) {
      closing_ = true;
      return;
    }
    if (!*message) return;
    obey((*message)->data);
  }
}

void GuardLoop::obey(std::string_view request) {
  Reader reader(request);
  switch (static_cast<Request>(reader.number())) {
    case Request::start: return start(reader);
    case Request::signal_group: {
      const auto id = static_cast<std::uint32_t>(reader.number());
      return signal_group(id, static_cast<int>(reader.number()));
    }
    case Request::sweep: return begin_sweep();
    case Request::add_scrap: scrap_.push_back(reader.text()); return;
    case Request::drop_scrap: std::erase(scrap_, reader.text()); return;
  }
  check_failed("a known request", __FILE__, __LINE__);
}

void GuardLoop::start(Reader& reader) {
  GuardEvent event;
  event.id = static_cast<std::uint32_t>(reader.number());
  Command command;
  command.argv = reader.texts();
  command.environment = reader.texts();
  command.directory = reader.text();
  const std::string output = reader.text();
  command.group = Command::Group::own_group;
  command.parent_death_signal = SIGKILL;
  command.descriptor_limit = descriptor_limit_;
  const auto launched = [&]() -> Result<Launched> {
    if (!reader.ok() || command.argv.empty()) return make_error("start a process", {}, EINVAL, "it has no arguments");
    TRY_ASSIGN(const Fd in, open_fd("/dev/null", O_RDONLY));
    TRY_ASSIGN(const Fd out, open_fd(output.empty() ? "/dev/null" : output, O_WRONLY | O_APPEND | O_CREAT));
    command.in = in.get();
    command.out = command.err = out.get();
    return launch(command);
  };
  auto result = launched();
  event.stamp = now();
  if (!result) {
    event.kind = GuardEvent::Kind::not_started;
    event.error = result.error().code;
    event.text = result.error().message();
    return tell(std::move(event));
  }
  event.kind = GuardEvent::Kind::started;
  event.pid = result->pid;
  started_[result->pid] = event.id;
  tell(std::move(event), std::move(result->pidfd));
}

void GuardLoop::signal_group(std::uint32_t id, int number) {
  for (const auto& [pid, started] : started_) {
    // Not reaped, so the number is still the group's.
    if (started == id) ::kill(-pid, number);
  }
}

void GuardLoop::reap_ended_children() {
  // Where processes start and end without end, somebody has always ended: the driver and a sweep get their turns too.
  for (int turn = 0; turn < 64; ++turn) {
    const EndedChild child = find_ended_child();
    children_ = child.left;
    if (child.left != Children::ended) return;
    const auto at = started_.find(child.pid);
    if (at == started_.end() && !adopted_.contains(child.pid)) adopt(child.pid);
    reap_ended(child.pid);
    GuardEvent event;
    event.stamp = now();
    event.kind = at != started_.end() ? GuardEvent::Kind::ended : GuardEvent::Kind::adopted_ended;
    if (at != started_.end()) event.id = at->second;
    event.pid = child.pid;
    event.status = child.status;
    if (at != started_.end()) started_.erase(at);
    else adopted_.erase(child.pid);
    dying_.erase(child.pid);
    reaped_ = true;
    tell(std::move(event));
  }
}

void GuardLoop::adopt(pid_t pid) {
  adopted_.insert(pid);
  GuardEvent event;
  event.kind = GuardEvent::Kind::adopted;
  event.stamp = now();
  event.pid = pid;
  const auto at = arguments_.find(pid);
  event.text = at != arguments_.end() ? at->second : proc_arguments(pid);
  tell(std::move(event));
}

// Orphans come only from processes that ended, and the kernel hands them over before their parent can be reaped.
void GuardLoop::look_for_orphans() {
  if (children_ == Children::none) return;
  const auto listed = proc_listed_children(::getpid());
  for (const pid_t pid : listed ? *listed : proc_all()) {
    if (started_.contains(pid) || adopted_.contains(pid)) continue;
    // Cheaper by far than to read everybody's parent.
    if (listed || is_own_child(pid)) adopt(pid);
  }
}

void GuardLoop::begin_sweep() {
  if (sweeping_) return;
  sweeping_ = true;
  killed_.clear();
  killed_alive_ = 0;
}

void GuardLoop::go_on_sweeping() {
  if (children_ != Children::none) {
    // Looking at every process for each of hundreds of deaths would be slow, and is of no use while the last kills
    // have not all shown.
    if (dying_.size() < 8) freeze_and_kill();
    return;
  }
  sweeping_ = false;
  dying_.clear();
  arguments_.clear();
  reaped_ = false;
  GuardEvent event;
  event.kind = GuardEvent::Kind::swept;
  event.stamp = now();
  event.count = killed_alive_;
  tell(std::move(event));
}

// Stops everybody before the first is killed, so that nobody can start another while the rest dies; then kills.
void GuardLoop::freeze_and_kill() {
  std::map<pid_t, Fd> frozen;
  const pid_t self = ::getpid();
  std::set<pid_t> foreign;
  const auto freeze = [&](const ProcStat& seen) {
    auto pidfd = open_pidfd(seen.pid);
    const auto stat = proc_stat(seen.pid);
    // Looked at again behind the handle, which so names the process that was meant.
    if (!pidfd || !stat || stat->start_ticks != seen.start_ticks) return false;
    if (stat->state != 'Z') {
      (void)send_signal(*pidfd, SIGSTOP);
      if (!started_.contains(seen.pid)) arguments_.try_emplace(seen.pid, proc_arguments(seen.pid));
      if (!killed_.contains({seen.pid, seen.start_ticks})) ++killed_alive_;
    }
    killed_.emplace(seen.pid, seen.start_ticks);
    frozen.insert_or_assign(seen.pid, std::move(*pidfd));
    return true;
  };
  // A storm of forks is outrun only if each is stopped as soon as it is seen, and if a pass looks at newcomers alone.
  for (bool fresh = true; fresh;) {
    fresh = false;
    std::vector<ProcStat> undecided;
    for (const pid_t pid : proc_all()) {
      if (pid == self || frozen.contains(pid) || foreign.contains(pid)) continue;
      const auto stat = proc_stat(pid);
      if (!stat) continue;
      if (stat->parent != self && !frozen.contains(stat->parent)) {
        undecided.push_back(*stat);
        continue;
      }
      fresh |= freeze(*stat);
    }
    // Numbers begin anew at some time, and then a child is listed before its parent.
    const auto is_ours = [&](const ProcStat& stat) { return frozen.contains(stat.parent); };
    for (;;) {
      const auto at = std::find_if(undecided.begin(), undecided.end(), is_ours);
      if (at == undecided.end()) break;
      fresh |= freeze(*at);
      undecided.erase(at);
    }
    for (const ProcStat& stat : undecided) foreign.insert(stat.pid);
  }
  for (const auto& [pid, pidfd] : frozen) {
    if (send_signal(pidfd, SIGKILL)) dying_.insert(pid);
  }
}

void GuardLoop::tell(GuardEvent event, Fd attached) {
  if (!closing_) outgoing_.push_back({guard_wire::encode(event), std::move(attached)});
}

// The guard never blocks on a driver that does not read: the driver may be blocked on the guard.
void GuardLoop::flush() {
  while (!closing_ && !outgoing_.empty()) {
    const auto sent = guard_wire::send_message(socket_, outgoing_.front().data, outgoing_.front().attached,
                                               guard_wire::Block::no);
    if (!sent && sent.error().code != EAGAIN) closing_ = true;
    if (!sent) return;
    outgoing_.pop_front();
  }
}

Result<Fd> watch_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  // Only the socket's end ends a guard; a signal to it must not leave its children behind.
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::sigaddset(&set, number);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return last_error("block signals");
  Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return last_error("create a signal descriptor");
  return signals;
}

}  // namespace

int guard_main(std::uint64_t descriptor_limit) {
  Fd socket(3);
  if (::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0) return 64;
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return 70;
  auto signals = watch_signals();
  if (!signals) return 70;
  if (!guard_wire::send_message(socket, "hello", Fd(), guard_wire::Block::yes)) return 0;
  return GuardLoop(std::move(socket), std::move(*signals), descriptor_limit).run();
}

}  // namespace jitrace
