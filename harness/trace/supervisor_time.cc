// Who can move, and what passes when nobody can.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "plan/trace_plan.h"
#include "process/proc.h"
#include "trace/supervisor.h"

namespace jitrace {
namespace {

constexpr Nanoseconds longest_step = seconds(600);   // of moved time at once
constexpr Nanoseconds shortest_step = milliseconds(10);

// How a wait with a time-out answers when that has passed.
std::int64_t answer_at_the_end(std::uint64_t number) {
  if (number == SYS_futex) return -ETIMEDOUT;
  return number == SYS_rt_sigtimedwait ? -EAGAIN : 0;
}

// As the kernel would. flock -w, for one, asks its signal whether it is a timer's.
void send(const Timers::Signal& signal) {
  if (!signal.timer) {
    ::kill(signal.process, signal.number);
    return;
  }
  siginfo_t info{};
  info.si_signo = signal.number;
  info.si_code = SI_TIMER;
  info.si_timerid = *signal.timer;
  info.si_value.sival_ptr = reinterpret_cast<void*>(signal.value);
  if (signal.thread > 0) ::syscall(SYS_rt_tgsigqueueinfo, signal.process, signal.thread, signal.number, &info);
  else ::syscall(SYS_rt_sigqueueinfo, signal.process, signal.number, &info);
}

bool was_interrupted(std::int64_t result) {
  return result == -EINTR || (result <= -512 && result >= -516);  // the kernel's own codes for "start it again"
}

}  // namespace

bool Supervisor::only_spinners_may_run() const {
  return options_.time == Options::Time::moved && spinning_.round_is_over();
}

// A first thread that ended stays in the list of its process as long as others of it live.
bool Supervisor::has_left_others(const Thread& thread) const {
  const pid_t pid = process_of(thread).pid;
  const auto is_other = [&](const auto& entry) { return entry.second.process == thread.process && entry.first != pid; };
  return thread.id == pid && std::any_of(threads_.begin(), threads_.end(), is_other) && is_ended_leader(pid, pid);
}

// Two looks, at all of them: asleep at both, and at the same sleep, so nobody moved in between, and nobody is left who
// could have moved anybody.
bool Supervisor::somebody_runs(std::map<pid_t, BlockedThread>* blocked) {
  if (!unclaimed_.empty()) return true;
  std::vector<const Thread*> released;
  for (const auto& [id, thread] : threads_) {
    const bool runs = thread.state == Thread::State::running || thread.state == Thread::State::in_call;
    if (runs && !only_spins(id)) released.push_back(&thread);
  }
  // Most likely the one that went on last.
  std::erase_if(released, [this](const Thread* thread) { return has_left_others(*thread); });
  std::partition(released.begin(), released.end(),
                 [this](const Thread* thread) { return thread->id == last_resumed_; });
  for (const Thread* thread : released) {
    const auto wait = blocked_thread(process_of(*thread).pid, thread->id, thread->vfork, clock_);
    if (!wait) {
      last_resumed_ = thread->id;
      return true;
    }
    see_own_fifo(*thread, &blocked->emplace(thread->id, *wait).first->second);
  }
  for (const Thread* thread : released) {
    const auto wait = blocked_thread(process_of(*thread).pid, thread->id, thread->vfork, clock_);
    if (!wait || wait->key != blocked->at(thread->id).key) return true;
  }
  return false;
}

// A fifo of the cache has both of its ends in the tree: nobody else touches the cache.
void Supervisor::see_own_fifo(const Thread& thread, BlockedThread* wait) {
  if (wait->on != BlockedThread::On::outside) return;
  const TraceeMemory memory(thread.id);
  const bool opens = wait->number == SYS_open || wait->number == SYS_openat;
  const bool reads = wait->number == SYS_read || wait->number == SYS_readv || wait->number == SYS_write || wait->number == SYS_writev;
  if (!opens && !reads) return;
  std::optional<std::string> path;
  if (reads) {
    path = scope_.of_descriptor(thread.id, static_cast<int>(wait->args[0]));
  } else {
    const bool at = wait->number == SYS_openat;
    const auto name = memory.read_string(wait->args[at ? 1 : 0]);
    if (name) path = scope_.of_path(thread.id, at ? static_cast<int>(wait->args[0]) : AT_FDCWD, *name, true);
  }
  struct stat info {};
  if (!path || ::stat(scope_.real_path(*path).c_str(), &info) != 0 || !S_ISFIFO(info.st_mode)) return;
  wait->on = BlockedThread::On::pipe;
  wait->what = (opens ? "open " : reads && (wait->number == SYS_write || wait->number == SYS_writev) ? "write " : "read ") + *path;
}

Result<Supervisor::Passing> Supervisor::pass_time() {
  std::map<pid_t, BlockedThread> blocked;
  if (somebody_runs(&blocked)) return Passing::busy;
  TRY(wake_signalled());  // a signal from outside of the tree
  const bool spinning = only_spinners_may_run();
  if (!spinning || !spinning_.have_others_tried()) {
    TRY_ASSIGN(const bool retried, retry_after_activity());
    if (retried) return Passing::moved;
  }
  const Nanoseconds outside = outside_for(blocked);
  TRY_ASSIGN(const bool tried, retry_for_outside());
  if (tried) return Passing::moved;
  if (outside > 0 && outside < options_.outside_patience) return Passing::busy;
  std::optional<Nanoseconds> next = next_timer();
  const auto consider = [&](Nanoseconds due) {
    if (!next || due < *next) next = due;
  };
  for (const auto& [id, thread] : threads_) {
    if (thread.state == Thread::State::parked_sleep) consider(thread.due);
  }
  for (auto& [id, wait] : blocked) {
    Thread& thread = threads_.at(id);
    if (wait.after && thread.known_key != wait.key) {
      const bool goes_on = thread.broken_into && thread.known_call == wait.call;
      if (!goes_on) thread.known_due = clock_.now() + *wait.after;
      thread.known_call = wait.call;
      thread.known_key = wait.key;
      thread.broken_into = false;
    }
    if (wait.after) wait.due = thread.known_due;
    if (wait.due) consider(*wait.due);
  }
  if (spinning) consider(clock_.now() + shortest_step);
  if (options_.time == Options::Time::real) return next ? Passing::busy : Passing::stuck;
  const bool changed = something_changed();
  if (changed) {
    unchanged_ = steps_ = 0;
    passed_since_change_ = 0;
    first_gap_ = 0;
    processes_at_change_ = processes_.size();
  }
  if (!next) {
    // A timer of the kernel's may have gone off between the looks at them and the look at it, and is over by now: whoever it
    // woke is awake, or waits anew.
    std::map<pid_t, BlockedThread> again;
    if (somebody_runs(&again)) return Passing::busy;
    const bool same = std::equal(blocked.begin(), blocked.end(), again.begin(), again.end(), [](const auto& one, const auto& other) {
      return one.first == other.first && one.second.key == other.second.key;
    });
    if (!same) return Passing::busy;
    tell_stuck(blocked);
    // Somebody outside may still end it.
    const bool may_end = stuck_.outside && !anybody_held() && outside_idle() < options_.outside_limit;
    return may_end ? Passing::busy : Passing::stuck;
  }
  if (anybody_held() && !changed && steps_ > 20) return Passing::stuck;  // they only wait for those that are held
  const Nanoseconds now = clock_.now();
  if (*next > now) {
    Nanoseconds step = *next - now;
    if (first_gap_ == 0) first_gap_ = std::max(step, shortest_step);
    // Each round without a change lets twice the time pass: as on a machine that was asleep.
    if (steps_ > 0) step = std::max(step, std::min(longest_step, first_gap_ << std::min<std::uint64_t>(steps_, 24)));
    // Whether this poller starts processes to look or to sleep.
    const bool forks = processes_.size() - processes_at_change_ >= unchanged_;
    if (unchanged_ >= (forks ? options_.forking_polls : options_.polls) &&
        passed_since_change_ >= options_.virtual_bound) {
      tell_stuck(blocked);
      return Passing::stuck;
    }
    unchanged_ += spinning ? spinning_.looks() : 1;
    ++steps_;
    if (outside > 0) note_outside_time();
    clock_.pass(step);
    spinning_.next_round();
    timer_descriptors_.passed(step);
    passed_since_change_ += step;
    director_.passed(step);
    for (auto& [id, thread] : threads_) thread.stood = thread.state == Thread::State::parked_lock;
  }
  TRY(wake_due());
  for (const auto& [id, wait] : blocked) {
    if (!wait.due || *wait.due > clock_.now()) continue;
    if (Thread* thread = find(id)) TRY(end_kernel_wait(*thread, wait));
  }
  return Passing::moved;
}

std::optional<Nanoseconds> Supervisor::next_timer() {
  const auto signal = timers_.next_due();
  if (!timer_descriptors_.used()) return signal;
  std::vector<pid_t> living;
  for (const auto& [pid, process] : by_pid_) living.push_back(pid);
  const auto descriptor = timer_descriptors_.next_due(living, clock_);
  return !descriptor || (signal && *signal < *descriptor) ? signal : descriptor;
}

Result<bool> Supervisor::wake_due() {
  if (options_.time == Options::Time::real) return false;
  const Nanoseconds now = clock_.now();
  bool woken = false;
  for (auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::parked_sleep || thread.due > now) continue;
    TRY(wake(thread, 0));
    woken = true;
  }
  const auto signals = timers_.due(now);
  for (const Timers::Signal& signal : signals) {
    if (by_pid_.contains(signal.process)) send(signal);
  }
  if (!signals.empty()) TRY(wake_signalled());
  return woken || !signals.empty();
}

Result<void> Supervisor::wake(Thread& thread, std::int64_t answer) {
  Registers regs = thread.before;
  regs.answer(answer);
  thread.reported = false;
  thread.told = false;
  TRY(regs.write(thread.id));
  return resume(thread);
}

// Wakes a thread that sleeps in the kernel as its time-out would.
Result<void> Supervisor::end_kernel_wait(Thread& thread, const BlockedThread& wait) {
  if (::ptrace(PTRACE_INTERRUPT, thread.id, nullptr, nullptr) != 0) return {};
  for (;;) {
    TRY_ASSIGN(const auto stop, next_tracee_stop(Blocking::yes));
    if (!stop) continue;
    const bool ours = stop->thread == thread.id;
    if (!ours || (stop->status >> 16) != PTRACE_EVENT_STOP) {
      backlog_.push_back(*stop);
      if (ours) return {};  // it moved by itself
      continue;
    }
    auto regs = Registers::read(thread.id);
    if (regs && was_interrupted(regs->result())) {
      if (wait.number == SYS_select || wait.number == SYS_pselect6) {
        const std::string none((wait.args[0] + 63) / 64 * 8, '\0');
        for (int i = 1; i <= 3; ++i) {
          if (wait.args[i] != 0) (void)TraceeMemory(thread.id).write(wait.args[i], none.data(), none.size());
        }
      }
      regs->answer(answer_at_the_end(wait.number));
      thread.known_call.clear();
      TRY(regs->write(thread.id));
    }
    return resume(thread);
  }
}

// A signal ends a sleep and the wait for a lock.
Result<void> Supervisor::wake_signalled() {
  for (auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::parked_sleep && thread.state != Thread::State::parked_lock) continue;
    if (!has_deliverable_signal(id)) continue;
    if (thread.state == Thread::State::parked_lock) {
      director_.after(thread.call, -EINTR, Changed::no);
      TRY(interrupt_lock(thread));
    } else {
      tell_rest_of_sleep(thread);
      TRY(wake(thread, -EINTR));
    }
  }
  return {};
}

void Supervisor::tell_rest_of_sleep(const Thread& thread) {
  const RawCall& call = thread.call.call.raw;
  const bool absolute = call.number == SYS_clock_nanosleep && (call.args[1] & TIMER_ABSTIME) != 0;
  const std::uint64_t address = call.args[call.number == SYS_nanosleep ? 1 : 3];
  if (absolute || address == 0) return;
  const Nanoseconds rest = std::max<Nanoseconds>(thread.due - clock_.now(), 0);
  const timespec left{rest / seconds(1), rest % seconds(1)};
  (void)TraceeMemory(thread.id).write(address, &left, sizeof left);
}

// For how long the latest of the waits has been there that somebody outside of the tree may end; 0: there is none. One that
// its own limit ends and that is made again goes on; one that gets something now and then is young for ever.
Nanoseconds Supervisor::outside_for(const std::map<pid_t, BlockedThread>& blocked) {
  constexpr Nanoseconds silence = seconds(1);
  const Nanoseconds now = jitrace::now();
  std::map<pid_t, OutsideWait> waits;
  for (const auto& [id, wait] : blocked) {
    if (wait.on == BlockedThread::On::outside) waits[id] = {wait.call, wait.key, now, now};
  }
  std::optional<std::vector<HeldLock>> held;
  for (const auto& [id, thread] : threads_) {
    if (thread.state != Thread::State::parked_lock) continue;
    if (!held) held = proc_locks();
    bool outside = false;
    (void)owners_of(thread, *held, &outside);
    if (outside) waits[id] = {thread.call.what, "", now, now};
  }
  Nanoseconds least = 0;
  for (auto& [id, wait] : waits) {
    const auto known = outside_since_.find(id);
    if (known != outside_since_.end() && known->second.call == wait.call) {
      wait.since = known->second.since;
      if (known->second.key == wait.key) wait.moved = known->second.moved;
    }
    const Nanoseconds age = now - wait.moved < silence ? 1 : std::max<Nanoseconds>(now - wait.since, 1);
    if (least == 0 || age < least) least = age;
  }
  outside_since_ = std::move(waits);
  return least;
}

// No stop tells that somebody else let go of a lock.
Result<bool> Supervisor::retry_for_outside() {
  constexpr Nanoseconds interval = milliseconds(20);
  const Nanoseconds now = jitrace::now();
  const bool any = std::any_of(outside_since_.begin(), outside_since_.end(), [this](const auto& known) {
    const Thread* thread = find(known.first);
    return thread != nullptr && thread->state == Thread::State::parked_lock;
  });
  if (!any || now - tried_for_outside_ < interval) return false;
  tried_for_outside_ = now;
  TRY(retry_locks());
  return true;
}

// What ends by its limit from here on might have been served in time.
void Supervisor::note_outside_time() {
  for (const auto& [id, known] : outside_since_) {
    if (const Thread* thread = find(id)) bypass(*thread, std::string(waited_outside));
  }
}

}  // namespace jitrace
