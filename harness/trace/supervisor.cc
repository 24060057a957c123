#include "trace/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/launch.h"

namespace jitrace {
namespace {

constexpr auto options_of_a_tracee = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD |
                                     PTRACE_O_EXITKILL;
constexpr int tick_ms = 5;  // how soon a sleep in the kernel is noticed that no stop tells of

int event_of(int status) { return status >> 16; }

// A sleep that was broken into goes on as another call, restart_syscall, by which nobody sees what it is. This way it
// goes on as itself, and answers EINTR to a handled signal just the same. True: the thread stands in such a sleep.
bool keep_number(pid_t thread) {
  auto regs = Registers::read(thread);
  constexpr std::int64_t restart_block = -516, restart_no_hand = -514;  // ERESTART_RESTARTBLOCK, ERESTARTNOHAND
  if (!regs || regs->call().number == ~0ULL) return false;
  if (regs->result() != restart_block) return regs->result() == restart_no_hand;
  regs->set_result(restart_no_hand);
  (void)regs->write(thread);
  return true;
}

void nothing(int) {}

// Breaks a wait that no stop ends, again and again while it lives: one that came just before the wait is not the last.
class Tick {
 public:
  Tick() {
    struct sigaction action {};
    action.sa_handler = nothing;
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval every{{0, tick_ms * 1000}, {0, tick_ms * 1000}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
  }
  Tick(const Tick&) = delete;
  Tick& operator=(const Tick&) = delete;
  ~Tick() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

}  // namespace

Supervisor::Supervisor(Options options, Scope scope, Director& director)
    : options_(std::move(options)), scope_(std::move(scope)), elsewhere_(options_.journal), director_(director),
      spinning_({.calls = options_.polls * 50}) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans stay below us; their ends are told to us
}

Result<int> Supervisor::start(Command command, int worker, const std::string& letter) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error("make a pipe");
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const char* const stops = options_.time == Options::Time::moved ? "files_and_clocks" : "files";
  std::vector<std::string> argv{options_.starter, "3", stops, "--"};
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  command.argv = std::move(argv);
  command.place.push_back({read_end.get(), 3});
  TRY_ASSIGN(const Launched launched, launch(command));
  // Waits for its byte until we have it.
  if (const auto seized = seize(launched.pid, command.argv[4]); !seized) {
    ::kill(launched.pid, SIGKILL);
    (void)reap_forked(launched.pid);
    return seized.error();
  }
  TracedProcess& process = add_process(launched.pid, -1, worker, letter);
  threads_[launched.pid] = Thread(launched.pid, process.index);
  const char go = 'g';
  if (::write(write_end.get(), &go, 1) != 1) return last_error("start", command.argv[4]);
  return process.index;
}

Result<void> Supervisor::seize(pid_t pid, const std::string& what) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, options_of_a_tracee) == 0) return {};
  const int code = errno;
  const char* const why = "ptrace is forbidden here, by kernel.yama.ptrace_scope or a container's profile";
  return make_error("trace", what, code, code == EPERM ? why : "");
}

Supervisor::Thread* Supervisor::find(pid_t id) {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

// The kernel tells of the first in its list that stands: one that stops again at once would be served for ever, and those
// behind it never. So all that stand are asked for before any of them goes on.
Result<std::optional<TraceeStop>> Supervisor::next_stop(Blocking blocking) {
  if (backlog_.empty()) {
    TRY_ASSIGN(auto stop, next_tracee_stop(blocking));
    while (stop) {
      backlog_.push_back(*stop);
      const auto more = next_tracee_stop(Blocking::no);
      if (!more) break;  // that was the last of all processes
      stop = *more;
    }
  }
  if (backlog_.empty()) return std::optional<TraceeStop>();
  const TraceeStop stop = backlog_.front();
  backlog_.pop_front();
  return std::optional(stop);
}

Result<Supervisor::Halt> Supervisor::run(const std::function<bool()>& done) {
  const Tick tick;
  const Nanoseconds end = now() + options_.limit;
  const bool moved = options_.time == Options::Time::moved;
  for (;;) {
    if (done()) return Halt::done;
    if (by_pid_.empty()) return Halt::all_ended;
    const bool too_many = processes_.size() > options_.most_processes;
    if (too_many && !doomed_.contains(processes_.back().worker)) return Halt::too_many;
    if (now() > end) return Halt::limit;  // asked each time: there may always be a stop
    // Of those who never pause there may always be a stop.
    std::optional<TraceeStop> stop;
    if (!only_spinners_may_run()) {
      TRY_ASSIGN(stop, next_stop(Blocking::no));
    }
    if (!stop) {
      TRY_ASSIGN(const bool woken, wake_due());
      if (woken) continue;
      if (moved || anybody_held()) {
        TRY_ASSIGN(const Passing passing, pass_time());
        if (passing == Passing::moved) continue;
        if (passing == Passing::busy) spinning_.not_yet();
        if (passing == Passing::stuck) return anybody_held() ? Halt::held : Halt::stuck;
      }
      TRY_ASSIGN(stop, next_stop(Blocking::yes));
    }
    if (stop) TRY(handle(*stop));
  }
}

Result<void> Supervisor::handle(const TraceeStop& stop) {
  const pid_t before = handling_;
  handling_ = stop.thread;
  const auto done = handle_stop(stop);
  handling_ = before;
  return done;
}

Result<void> Supervisor::handle_stop(const TraceeStop& stop) {
  const Thread* of = find(stop.thread);
  if (of == nullptr || !of->reported) {
    ++activity_;
    last_activity_ = now();
  }
  if (WIFEXITED(stop.status) || WIFSIGNALED(stop.status)) return thread_ended(stop);
  Thread* thread = find(stop.thread);
  if (thread == nullptr) {
    return first_stop(stop);
  }
  const int signal = WSTOPSIG(stop.status);
  thread->vfork = event_of(stop.status) == PTRACE_EVENT_VFORK ? Vfork::yes : Vfork::no;
  switch (event_of(stop.status)) {
    case PTRACE_EVENT_SECCOMP:
      thread->known_call.clear();  // whatever wait comes next is another
      return before_call(*thread);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE: {
      unsigned long child = 0;
      if (::ptrace(PTRACE_GETEVENTMSG, thread->id, nullptr, &child) == 0) {
        TRY(adopt(thread->process, static_cast<pid_t>(child)));
      }
      return resume(*thread);
    }
    case PTRACE_EVENT_EXEC:
      return replaced(*thread);
    case PTRACE_EVENT_STOP:
      return stopped(*thread, signal);
    default:
      break;
  }
  if (signal == (SIGTRAP | 0x80)) return after_call(*thread);
  if (keep_number(thread->id)) thread->broken_into = true;
  if (thread->state == Thread::State::in_call) {
    // A signal before the stop after the call: it is still to come.
    if (::ptrace(PTRACE_SYSCALL, thread->id, nullptr, signal) != 0 && errno != ESRCH) {
      return last_error("go on with", thread->call.what);
    }
    return {};
  }
  return resume(*thread, signal);
}

// A stop signal stops it until SIGCONT (listening); anything else is the first stop of a child, or ours.
Result<void> Supervisor::stopped(Thread& thread, int signal) {
  if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
    thread.state = Thread::State::listening;
    if (::ptrace(PTRACE_LISTEN, thread.id, nullptr, nullptr) != 0 && errno != ESRCH) {
      return last_error("listen to", "a stopped thread");
    }
    return {};
  }
  if (thread.state == Thread::State::in_call) return step_into(thread);
  if (keep_number(thread.id)) thread.broken_into = true;
  return resume(thread);
}

Result<void> Supervisor::resume(Thread& thread, int signal) {
  thread.state = Thread::State::running;
  last_resumed_ = thread.id;
  if (::ptrace(PTRACE_CONT, thread.id, nullptr, signal) != 0 && errno != ESRCH) {
    return last_error("go on with", std::to_string(thread.id));
  }
  return {};
}

bool Supervisor::anybody_held() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const auto& entry) { return entry.second.state == Thread::State::held; });
}

Result<void> Supervisor::release() {
  for (auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::held) continue;
    thread.ruling = director_.before(thread.call);
    if (process_of(thread).killed || thread.ruling.kind == Ruling::Kind::hold) continue;
    note_turn();
    const auto regs = Registers::read(thread.id);
    if (regs) TRY(obey(thread, *regs));
  }
  return {};
}

Result<void> Supervisor::freeze(const std::function<Result<void>()>& work) {
  // Whoever is released stops once; what it stopped for is handled afterwards.
  std::set<pid_t> awaited;
  for (const auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::running && thread.state != Thread::State::in_call) continue;
    if (id == handling_) continue;  // it stands already
    const bool waits = std::any_of(backlog_.begin(), backlog_.end(),
                                   [id = id](const TraceeStop& stop) { return stop.thread == id; });
    if (!waits && ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr) == 0) awaited.insert(id);
  }
  while (!awaited.empty()) {
    auto stop = next_tracee_stop(Blocking::yes);
    if (!stop && stop.error().code == ECHILD) break;
    TRY(stop);
    if (!*stop) {
      // A vfork's parent comes to no stop before its child goes on, which stands: neither moves.
      std::erase_if(awaited, [this](pid_t id) {
        const Thread* thread = find(id);
        return thread->vfork == Vfork::yes && sleeps_deep_in_fork(process_of(*thread).pid, id);
      });
      continue;
    }
    awaited.erase((*stop)->thread);
    backlog_.push_back(**stop);
  }
  return work();
}

}  // namespace jitrace
