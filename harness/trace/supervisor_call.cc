// What happens before and after one call.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "plan/recording.h"
#include "process/proc.h"
#include "trace/decode.h"
#include "trace/shorten.h"
#include "trace/supervisor.h"

namespace jitrace {
namespace {

// A name that must not be there yet.
bool would_make(const Call& call) {
  return call.op == Op::link || call.op == Op::symlink || call.op == Op::make_dir ||
         (call.op == Op::open && (call.flags & O_EXCL) != 0) || (call.op == Op::rename && call.flags != 0);
}

bool by_descriptor(const Call& call) { return call.path.empty() && call.fd >= 0; }

bool waits_for_lock(const Call& call) {
  if (call.op == Op::flock) return (call.flags & LOCK_NB) == 0 && (call.flags & LOCK_UN) == 0;
  return call.op == Op::range_lock && (call.flags == F_SETLKW || call.flags == F_OFD_SETLKW);
}

}  // namespace

void Supervisor::bypass(const Thread& thread, const std::string& how) {
  director_.bypassed(process_of(thread), how);
}

Result<void> Supervisor::step_into(Thread& thread) {
  thread.state = Thread::State::in_call;
  last_resumed_ = thread.id;
  if (::ptrace(PTRACE_SYSCALL, thread.id, nullptr, 0) != 0 && errno != ESRCH) {
    return last_error("go on with", thread.call.what);
  }
  return {};
}

// The director is not asked about it; what comes of it is ours.
Result<void> Supervisor::step_unwatched(Thread& thread, Call call) {
  thread.call = TracedCall();
  thread.call.process = thread.process;
  thread.call.thread = thread.id;
  thread.call.call = std::move(call);
  thread.watched = false;
  return step_into(thread);
}

Result<void> Supervisor::before_call(Thread& thread) {
  const auto regs = Registers::read(thread.id);
  if (!regs) return {};  // killed meanwhile
  thread.elsewhere.reset();
  unsigned long data = 0;
  if (::ptrace(PTRACE_GETEVENTMSG, thread.id, nullptr, &data) == 0 && data == foreign_call) {
    bypass(thread, "a 32-bit program's calls are not followed");
    return resume(thread);
  }
  const TraceeMemory memory(thread.id);
  const RawCall raw = regs->call();
  if (const bool again = thread.reported && thread.call.call.raw.number == raw.number; !again) thread.reported = false;
  Call call = decode(raw, memory);
  if (call.op == Op::map && !may_write_through(call, thread.id)) call.op = Op::other;
  const bool learnt = options_.tapes != nullptr && options_.tapes->learns(thread.process);
  if (learnt) options_.tapes->before(thread.process, thread.id, call);
  switch (call.op) {
    case Op::other:
      return resume(thread);
    case Op::exec:
      note_call(call);
      if (options_.tapes != nullptr) TRY(options_.tapes->before_exec(thread.id, thread.process, *regs, call));
      return resume(thread);
    case Op::clock: {
      const auto answer = clock_.answer(raw, memory);
      if (!answer) return resume(thread);
      Registers answered = *regs;
      answered.answer(*answer);
      TRY(answered.write(thread.id));
      return resume(thread);
    }
    case Op::sleep:
      return before_sleep(thread, *regs, std::move(call));
    case Op::timer:
      return before_timer(thread, *regs, call);
    case Op::trace:
      bypass(thread, std::string("it uses ") + call.name + " itself");
      return resume(thread);
    case Op::bypass:
      bypass(thread, std::string(call.name) + " is not followed");
      return step_unwatched(thread, std::move(call));
    case Op::kill:
      return step_unwatched(thread, std::move(call));
    case Op::flock:
    case Op::range_lock:
    case Op::open:
    case Op::rename:
    case Op::link:
    case Op::symlink:
    case Op::unlink:
    case Op::make_dir:
    case Op::remove_dir:
    case Op::make_node:
    case Op::stat:
    case Op::access:
    case Op::read_link:
    case Op::list:
    case Op::truncate:
    case Op::allocate:
    case Op::mode:
    case Op::times:
    case Op::attribute:
    case Op::copy:
    case Op::write:
    case Op::close:
    case Op::sync:
    case Op::map:
      break;
  }
  if (thread.reported) {
    // A lock that is tried again: it was ruled on.
    thread.call.call = std::move(call);
  } else {
    const bool of_cache = at_cache(thread, call);
    // What belongs to the cache is looked at even where nothing else is.
    if (of_cache || options_.elsewhere == Noticing::yes) thread.elsewhere = elsewhere_step(thread, call);
    if (!of_cache) {
      note_call(call);
      return learnt || thread.elsewhere ? step_unwatched(thread, std::move(call)) : resume(thread);
    }
  }
  if (learnt) options_.tapes->at_cache(thread.process, thread.id);
  if (thread.call.call.op == Op::flock || thread.call.call.op == Op::range_lock) return before_lock(thread, *regs);
  return rule(thread, *regs);
}

// Whether it is one for the director; then thread.call says all about it.
bool Supervisor::at_cache(Thread& thread, Call call) {
  TracedCall out;
  out.process = thread.process;
  out.thread = thread.id;
  const bool lock = call.op == Op::flock || call.op == Op::range_lock;
  std::optional<std::string> path, path2;
  if (by_descriptor(call)) {
    path = scope_.of_descriptor(thread.id, call.fd);
    if (!path && lock) {
      // Every lock counts: one beside the cache holds its users up just the same.
      char buffer[4096];
      const std::string link = "/proc/" + std::to_string(thread.id) + "/fd/" + std::to_string(call.fd);
      const ssize_t length = ::readlink(link.c_str(), buffer, sizeof buffer);
      if (length > 0) path = scope_.of_other(std::string(buffer, static_cast<std::size_t>(length)));
    }
  } else if (two_paths(call.op)) {
    if (call.op != Op::symlink) path = scope_.of_path(thread.id, call.directory, call.path, false);
    path2 = scope_.of_path(thread.id, call.directory2, call.path2, false);
  } else {
    path = scope_.of_path(thread.id, call.directory, call.path, call.follows);
  }
  if (!path && !path2) return false;
  if (lock && path) elsewhere_.locked(scope_.real_path(*path));
  out.path = path.value_or(scope_.of_other(call.path));
  out.path2 = two_paths(call.op) ? path2.value_or(scope_.of_other(call.path2)) : std::string();
  out.what = verb_of(call.op).empty() ? call.name : verb_of(call.op);
  if (call.op != Op::symlink) out.what += " " + path_pattern(out.path);
  if (!out.path2.empty()) out.what += (call.op == Op::symlink ? " " : " -> ") + path_pattern(out.path2);
  if (!call.detail.empty()) out.what += " " + call.detail;
  if (call.op == Op::open && (call.flags & (O_CREAT | O_TRUNC)) != 0) {
    struct stat info {};
    out.existed = ::lstat(scope_.real_path(out.path).c_str(), &info) == 0;
    const bool truncates = out.existed && (call.flags & O_TRUNC) != 0;
    if (truncates && info.st_size == 0) call.flags &= ~static_cast<std::uint64_t>(O_TRUNC);
  }
  out.call = std::move(call);
  thread.call = std::move(out);
  return true;
}

// Asks the director and lets the call go on as it says.
Result<void> Supervisor::rule(Thread& thread, Registers regs) {
  thread.watched = true;
  thread.before = regs;
  if (!thread.reported) {
    thread.ruling = director_.before(thread.call);
    if (process_of(thread).killed) return {};
  }
  // Who locks to look, and lets go, looked at what is between.
  const Call& call = thread.call.call;
  const bool lets_go = call.op == Op::close || (call.op == Op::flock && (call.flags & LOCK_UN) != 0) ||
                       (call.op == Op::range_lock && call.detail.ends_with("F_UNLCK"));
  if (!lets_go) last_look_[process_of(thread).worker] = {thread.call.what, thread.call.path};
  return obey(thread, regs);
}

// Does with a call that stands before it what its ruling says.
Result<void> Supervisor::obey(Thread& thread, Registers regs) {
  const bool as_it_is = thread.ruling.kind == Ruling::Kind::go || thread.ruling.kind == Ruling::Kind::hold;
  if (options_.tapes != nullptr && !as_it_is) options_.tapes->refuse(thread.process, "a call that was ruled on");
  switch (thread.ruling.kind) {
    case Ruling::Kind::hold:
      thread.state = Thread::State::held;
      return {};
    case Ruling::Kind::fail:
      regs.answer(-thread.ruling.error);
      TRY(regs.write(thread.id));
      director_.after(thread.call, -thread.ruling.error, Changed::no);
      return resume(thread);
    case Ruling::Kind::shorten: {
      TRY_ASSIGN(thread.shortened, shorten(thread.call.call, thread.ruling.bytes, regs, TraceeMemory(thread.id)));
      TRY(regs.write(thread.id));
      break;
    }
    case Ruling::Kind::go:
    case Ruling::Kind::lie:
      break;
  }
  return step_into(thread);
}

Result<void> Supervisor::before_lock(Thread& thread, Registers regs) {
  const Call& call = thread.call.call;
  thread.before = regs;
  if (waits_for_lock(call)) {
    // Tried without blocking: whoever would block is parked, and known.
    if (call.op == Op::flock) regs.set_argument(1, call.raw.args[1] | LOCK_NB);
    else regs.set_argument(1, call.flags == F_SETLKW ? F_SETLK : F_OFD_SETLK);
    TRY(regs.write(thread.id));
  }
  const Registers asked = thread.before;
  TRY(rule(thread, regs));
  thread.before = asked;
  thread.reported = thread.ruling.kind != Ruling::Kind::fail;  // one that failed is over, and is not tried again
  return {};
}

Result<void> Supervisor::before_sleep(Thread& thread, const Registers& regs, Call call) {
  if (options_.time == Options::Time::real) return resume(thread);
  const auto end = clock_.end_of_sleep(call.raw, TraceeMemory(thread.id));
  if (!end || *end <= clock_.now()) return resume(thread);
  thread.call = TracedCall();
  thread.call.process = thread.process;
  thread.call.thread = thread.id;
  thread.call.call = std::move(call);
  thread.call.what = "sleep";
  thread.before = regs;
  thread.due = *end;
  thread.state = Thread::State::parked_sleep;
  return {};
}

Result<void> Supervisor::before_timer(Thread& thread, Registers regs, const Call& call) {
  if (options_.time == Options::Time::real) return resume(thread);
  const pid_t pid = process_of(thread).pid;
  const TraceeMemory memory(thread.id);
  const bool descriptor = call.raw.number == SYS_timerfd_settime;
  const auto answer = descriptor ? timer_descriptors_.set(pid, call.raw, memory, clock_) : timers_.set(pid, call.raw, memory, clock_);
  if (descriptor && !answer) bypass(thread, "a timerfd keeps the machine's time");
  if (answer) {
    regs.answer(*answer);
    TRY(regs.write(thread.id));
    return resume(thread);
  }
  if (call.raw.number != SYS_timer_create) return resume(thread);
  return step_unwatched(thread, call);
}

Result<void> Supervisor::after_call(Thread& thread) {
  auto regs = Registers::read(thread.id);
  if (!regs) return {};
  std::int64_t result = regs->result();
  const Call& call = thread.call.call;
  if (options_.tapes != nullptr) options_.tapes->after(thread.process, thread.id, result);
  if (const auto step = std::exchange(thread.elsewhere, std::nullopt); step && result >= 0) elsewhere_.done(*step);
  if (!thread.watched) {
    if (call.op == Op::timer && result == 0) {
      timers_.created(process_of(thread).pid, call.raw, TraceeMemory(thread.id));
    }
    if (call.op == Op::bypass) scope_.forget();
    const bool signals = call.op == Op::kill;
    TRY(resume(thread));
    return signals ? wake_signalled() : Result<void>();
  }
  const bool lock = call.op == Op::flock || call.op == Op::range_lock;
  if (waits_for_lock(call)) {
    // The caller finds the registers as it left them.
    regs->set_argument(1, call.raw.args[1]);
    TRY(regs->write(thread.id));
  }
  if (thread.ruling.kind == Ruling::Kind::shorten) {
    TRY(restore(call, thread.shortened, *regs, TraceeMemory(thread.id)));
    TRY(regs->write(thread.id));
  }
  if (waits_for_lock(call) && (result == -EAGAIN || result == -EACCES)) {
    thread.before = *regs;
    thread.state = Thread::State::parked_lock;
    if (call.op == Op::range_lock && call.flags == F_SETLKW && would_deadlock(thread)) {
      TRY(wake(thread, -EDEADLK));
      director_.after(thread.call, -EDEADLK, Changed::no);
      return {};
    }
    if (thread.told) return {};
    thread.told = true;
    director_.parked(thread.call);
    return {};
  }
  thread.told = false;
  thread.reported = false;
  const Changed changed = changed_by(thread, result);
  // Whoever had to wait for a lock and has it now took his turn.
  const bool looks_only = (lock && !thread.stood) || call.op == Op::close;
  if (changed == Changed::yes && looks_only) ++lock_changes_;
  else if (changed == Changed::yes && lock) note_turn();
  else if (changed == Changed::yes) note_file_change(thread.call);
  else if (result < 0 && (would_make(call) || result == -EEXIST || result == -ENOTEMPTY)) tried_in_vain_ = true;
  spinning_.answered();
  if (changed == Changed::no && call.op != Op::close) {
    spinning_.looked(thread.id, call_key(thread.call.what, thread.call.path, thread.call.path2), std::min<std::int64_t>(result, 0));
  }
  thread.stood = false;
  if (thread.ruling.kind == Ruling::Kind::lie && result >= 0) {
    result = -thread.ruling.error;
    regs->answer(result);
    TRY(regs->write(thread.id));
  }
  const bool moves =
      call.op == Op::rename || call.op == Op::symlink || call.op == Op::remove_dir || call.op == Op::make_dir;
  // Asked of what it did and not of its answer, which may be a lie: a poller by mkdir fails a thousand times over.
  if (moves && changed == Changed::yes) scope_.forget();
  const bool frees = changed == Changed::yes && (call.op == Op::close || lock);
  director_.after(thread.call, result, changed);
  if (!process_of(thread).killed) TRY(resume(thread));
  return frees ? retry_locks() : Result<void>();
}

}  // namespace jitrace
