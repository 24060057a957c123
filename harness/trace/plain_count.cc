#include "trace/plain_count.h"

#include <linux/audit.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "plan/call_words.h"
#include "plan/recording.h"
#include "process/child_setup.h"
#include "process/reaper.h"
#include "trace/decode.h"

namespace jitrace {
namespace {

constexpr auto options_of_a_tracee = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
constexpr int could_not_start = 127;

// What the kernel returns to itself when a signal cuts a call short (linux/errno.h, which programs never see).
bool is_cut_short(std::int64_t result) { return result == -516 || (result <= -512 && result >= -514); }

bool stops_a_process(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// Where a descriptor leads, as the kernel names it.
std::optional<std::string> name_of_descriptor(pid_t thread, int fd) {
  char name[4096];
  const std::string link = "/proc/" + std::to_string(thread) + "/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), name, sizeof name);
  if (length <= 0) return std::nullopt;
  return std::string(name, static_cast<std::size_t>(length));
}

// What the call is about, if that lies in the cache or is a lock.
std::optional<std::string> counted_as(Scope& scope, pid_t thread, const RawCall& raw) {
  const Call call = decode(raw, TraceeMemory(thread));
  std::string what(verb_of(call.op));
  if (what.empty()) return std::nullopt;
  scope.forget();  // each call is looked up anew
  std::optional<std::string> from, to;
  if (call.op == Op::rename || call.op == Op::link) {
    from = scope.of_path(thread, call.directory, call.path, false);
    to = scope.of_path(thread, call.directory2, call.path2, false);
    if (!from && !to) return std::nullopt;
    what += " " + path_pattern(from.value_or(scope.of_other(call.path)));
    if (const std::string target = to.value_or(scope.of_other(call.path2)); !target.empty()) what += " -> " + path_pattern(target);
  } else if (call.op == Op::symlink) {
    to = scope.of_path(thread, call.directory2, call.path2, false);
    if (!to) return std::nullopt;
    what += " " + path_pattern(*to);
  } else {
    if (call.path.empty() && call.fd >= 0) from = scope.of_descriptor(thread, call.fd);
    else from = scope.of_path(thread, call.directory, call.path, call.follows);
    // A lock counts wherever it lies.
    if (!from && (call.op == Op::flock || call.op == Op::range_lock)) from = name_of_descriptor(thread, call.fd);
    if (!from || (call.op == Op::map && !may_write_through(call, thread))) return std::nullopt;
    what += " " + path_pattern(*from);
  }
  return call.detail.empty() ? what : what + " " + call.detail;
}

// Breaks the wait for tracees at the limit, and again and again after it: one signal may come just before a wait.
class Alarm {
 public:
  explicit Alarm(Nanoseconds limit) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    const Nanoseconds us = std::max<Nanoseconds>(limit / 1000, 1);
    const itimerval timer{{0, 100'000}, {us / 1'000'000, us % 1'000'000}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

class Counter {
 public:
  explicit Counter(Scope scope) : scope_(std::move(scope)) {}

  Result<void> start(const Command& command);
  Result<PlainCount> run(Nanoseconds limit);

 private:
  struct Thread {
    std::uint64_t number = 0;          // of the call that it is in
    std::optional<std::string> what;   // if that one is to be counted
    std::optional<std::string> cut;    // a counted one that a signal cut short, while the handler runs
    std::uint64_t stack = 0;           // as it stood then
    std::set<std::string> looks;       // that it took
  };
  Result<void> handle(const TraceeStop& stop);
  void at_call(pid_t id);
  void returned(Thread& thread, std::int64_t result, std::uint64_t stack);
  void count(Thread& thread, const std::string& what);
  Result<void> go_on(pid_t id, int signal);
  void kill_all();

  Scope scope_;
  std::map<pid_t, Thread> threads_;
  pid_t top_ = -1;
  enum class Phase { starting, program } phase_ = Phase::starting;  // until the first exec it is our own code that runs
  PlainCount counted_;
};

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));  // exec only reads
  pointers.push_back(nullptr);
  return pointers;
}

// Forks, since the launcher's child is past its exec before anybody could trace it.
Result<void> Counter::start(const Command& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error("make a pipe");
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const std::vector<char*> argv = pointers_to(command.argv), environment = pointers_to(command.environment);
  const ChildSetup setup(command);
  top_ = ::fork();
  if (top_ < 0) return last_error("start", command.argv.front());
  if (top_ == 0) {
    write_end = Fd();
    char go = 0;
    if (::read(read_end.get(), &go, 1) != 1) ::_exit(could_not_start);
    errno = setup.apply();
    if (errno == 0) {
      if (!command.environment.empty()) ::environ = const_cast<char**>(environment.data());
      ::execvp(argv[0], argv.data());
    }
    ::dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], std::strerror(errno));
    ::_exit(could_not_start);
  }
  if (::ptrace(PTRACE_SEIZE, top_, nullptr, options_of_a_tracee) != 0) {
    const Error error = last_error("trace", command.argv.front());
    ::kill(top_, SIGKILL);
    (void)reap_forked(top_);
    return error;
  }
  threads_[top_];
  if (::write(write_end.get(), "g", 1) != 1) return last_error("start", command.argv.front());
  return {};
}

Result<PlainCount> Counter::run(Nanoseconds limit) {
  const Nanoseconds end = now() + limit;
  const Alarm alarm(limit);
  bool late = false;
  for (;;) {
    const auto stop = next_tracee_stop(Blocking::yes);
    if (!stop && stop.error().code == ECHILD) break;  // nobody is left
    TRY(stop);
    if (*stop) TRY(handle(**stop));
    if (now() <= end) continue;
    // Again at each stop: what was being born when the others were killed.
    late = true;
    kill_all();
  }
  if (late) return make_error("count the calls", "", ETIMEDOUT, "it still ran when the limit of real time had passed");
  return counted_;
}

Result<void> Counter::handle(const TraceeStop& stop) {
  const pid_t id = stop.thread;
  if (WIFEXITED(stop.status) || WIFSIGNALED(stop.status)) {
    threads_.erase(id);
    if (id == top_) counted_.end = WaitStatus::from_raw(stop.status);
    return {};
  }
  threads_[id];  // a new one's first stop may come before its parent's word of it
  const int event = stop.status >> 16, signal = WSTOPSIG(stop.status);
  if (event == PTRACE_EVENT_STOP && stops_a_process(signal)) {
    // It stays stopped until its SIGCONT.
    if (::ptrace(PTRACE_LISTEN, id, nullptr, nullptr) == 0 || errno == ESRCH) return {};
    return last_error("listen to", "a stopped thread");
  }
  if (event == PTRACE_EVENT_EXEC) {
    // Whichever thread called it has the number of the process from now on, and no end of its old number will come.
    unsigned long former = 0;
    if (::ptrace(PTRACE_GETEVENTMSG, id, nullptr, &former) == 0) threads_.erase(static_cast<pid_t>(former));
    threads_[id] = Thread();
    phase_ = Phase::program;
  }
  if (event != 0) return go_on(id, 0);
  if (signal != (SIGTRAP | 0x80)) return go_on(id, signal);
  at_call(id);
  return go_on(id, 0);
}

void Counter::at_call(pid_t id) {
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0) return;  // killed meanwhile
  Thread& thread = threads_[id];
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) return returned(thread, info.exit.rval, info.stack_pointer);
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
  thread.number = info.entry.nr;
  thread.what.reset();
  // The handler is through, and so is the cut call: what comes now is the same again, or another.
  if (thread.number != SYS_rt_sigreturn && info.stack_pointer >= thread.stack) thread.cut.reset();
  if (phase_ == Phase::starting || info.arch != AUDIT_ARCH_X86_64) return;
  RawCall raw;
  raw.number = info.entry.nr;
  std::copy(std::begin(info.entry.args), std::end(info.entry.args), raw.args.begin());
  thread.what = counted_as(scope_, id, raw);
}

void Counter::returned(Thread& thread, std::int64_t result, std::uint64_t stack) {
  if (thread.what && is_cut_short(result)) {
    thread.cut = std::move(thread.what);
    thread.stack = stack;
  } else if (thread.what) {
    count(thread, *thread.what);
  } else if (thread.number == SYS_rt_sigreturn && thread.cut && result == -EINTR && stack == thread.stack) {
    count(thread, *thread.cut);  // it is not made again: this is its answer
    thread.cut.reset();
  }
  thread.what.reset();
}

void Counter::count(Thread& thread, const std::string& what) {
  if (CallWords(what).only_looks() && !thread.looks.insert(what).second) counted_.again.insert(what);
  ++counted_.calls;
  ++counted_.by_what[what];
}

Result<void> Counter::go_on(pid_t id, int signal) {
  // ESRCH: it was killed; its end is still to come.
  if (::ptrace(PTRACE_SYSCALL, id, nullptr, signal) == 0 || errno == ESRCH) return {};
  return last_error("go on with", "a traced thread");
}

// None of these numbers is reaped yet, so each is still its own.
void Counter::kill_all() {
  for (const auto& [id, thread] : threads_) ::kill(id, SIGKILL);
}

}  // namespace

Result<PlainCount> plain_count(const Command& command, Scope scope, Nanoseconds limit) {
  Counter counter(std::move(scope));
  TRY(counter.start(command));
  return counter.run(limit);
}

}  // namespace jitrace
