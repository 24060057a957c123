// The fault of a traced trial: who is struck at the step, and who goes on first.
#include <signal.h>

#include "process/proc.h"
#include "trace/lane.h"
#include "trace/lane_parts.h"

namespace jitrace {
namespace {

using Halt = Supervisor::Halt;

constexpr const char* orphans_stay = "orphans stay: they neither end nor move";

}  // namespace

bool TracedLane::is_step(const TracedCall& call, Side side) const {
  if (!plan_.step || plan_.step->side != side || plan_.step->what != call.what) return false;
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(call.process)];
  const auto occurrence = occurrence_.find(call.thread);
  return plan_.step->role == process.role && occurrence != occurrence_.end() && plan_.step->occurrence == occurrence->second;
}

// Before a call of the builder: what the plan does to it, if it is the step's.
std::optional<Ruling> TracedLane::at_step(const TracedCall& call) {
  if (plan_.work == TraceWork::kill && is_step(call, Side::before)) {
    arrive();
    return std::nullopt;
  }
  if (diverged_ || !is_step(call, Side::after)) return std::nullopt;
  if (plan_.work == TraceWork::answer) {
    struck_ = true;
    // A close that fails has closed all the same.
    const bool made = plan_.reply == Reply::lost || call.call.op == Op::close;
    note_fired(std::string(made ? "done, and answered " : "answered ") + name_of_errno(plan_.error) + ": ");
    return Ruling{.kind = made ? Ruling::Kind::lie : Ruling::Kind::fail, .error = plan_.error};
  }
  if (plan_.work != TraceWork::kill || plan_.cut == Cut::none) return std::nullopt;
  const std::uint64_t bytes = plan_.cut == Cut::half ? call.call.size / 2 : call.call.size - 1;
  if (bytes == 0) return std::nullopt;  // nothing of it would be left to write
  return Ruling{.kind = Ruling::Kind::shorten, .bytes = bytes};
}

void TracedLane::note_fired(const std::string& what) {
  note(event_of(EventKind::fault_fired, what + plan_.step->text()));
}

void TracedLane::arrive() {
  if (diverged_) return;  // the same step of another program is another moment
  if (plan_.waiters > 0) standing_ = Standing::builder;
  else strike();
}

void TracedLane::strike() {
  struck_ = true;
  note_fired((plan_.cut == Cut::none ? "" : "cut to " + std::string(name_of(plan_.cut)) + ", ") + name_of_signal(plan_.signal) +
             " of " + (plan_.who == Victim::tree ? "the whole tree " : "the builder alone "));
  holding_ = plan_.who == Victim::builder && plan_.order == OrphanOrder::held;
  if (plan_.who == Victim::tree && plan_.signal == SIGKILL) supervisor_->kill_worker(0);
  else if (plan_.who == Victim::tree) supervisor_->signal_worker(0, plan_.signal);
  else if (plan_.signal == SIGKILL) supervisor_->kill_process(0);
  else supervisor_->signal_process(0, plan_.signal);
}

Result<void> TracedLane::note_missed(Halt halt, int top) {
  note(event_of(EventKind::fault_missed,
                diverged_ ? "the program took another way: " + *diverged_ : "nobody came to: " + plan_.step->text()));
  TRY(conclude(halt, top));
  return drain();
}

// The call of the step answered with an error: the one that got it goes on to its end, then come fresh ones.
Result<void> TracedLane::answered_round() {
  round_ = 1;
  note_round();
  TRY_ASSIGN(const int top, start_worker());
  TRY_ASSIGN(const Halt halt, until_gone(0));
  if (!struck_) return note_missed(halt, top);
  TRY(conclude(halt, top));
  supervisor_->kill_worker(0);
  TRY(until_gone(0));
  return recovery();
}

// The fresh one of round 2 comes while the builder stands at its step, until it waits or is through.
Result<void> TracedLane::wait_beside() {
  round_ = 2;
  note_round();
  TRY_ASSIGN(waiter_, start_worker());
  TRY_ASSIGN(const Halt halt, supervisor_->run([this] { return failed_ || waits_ || supervisor_->living(1) == 0; }));
  const bool waits = halt == Halt::held || (halt == Halt::done && supervisor_->living(1) > 0);
  if (failed_ || waits) return {};
  TRY(conclude(halt, *waiter_));
  supervisor_->kill_worker(1);
  waiter_.reset();
  return {};
}

// Nobody is left whom the signal was for. One that can be caught, and was, is followed by one that cannot.
Result<void> TracedLane::until_struck_gone() {
  if (plan_.who != Victim::tree) {
    TRY(supervisor_->run([this] { return failed_ || supervisor_->processes()[0].end.has_value(); }));
    if (!supervisor_->processes()[0].end) supervisor_->kill_process(0);
    return {};
  }
  TRY_ASSIGN(const Halt halt, until_gone(0));
  if (halt == Halt::done || halt == Halt::all_ended) return {};
  supervisor_->kill_worker(0);
  TRY(until_gone(0));
  return {};
}

Result<void> TracedLane::killed_round() {
  round_ = 1;
  note_round();
  TRY_ASSIGN(const int top, start_worker());
  TRY_ASSIGN(const Halt halt, supervisor_->run([this] {
    return failed_ || struck_ || standing_ == Standing::builder || supervisor_->living(0) == 0;
  }));
  if (!struck_ && standing_ == Standing::nobody) return note_missed(halt, top);
  if (!struck_) {
    TRY(wait_beside());
    strike();
    const bool orphans_first = plan_.who == Victim::builder && plan_.order != OrphanOrder::held;
    standing_ = orphans_first ? Standing::waiter : Standing::nobody;
    TRY(supervisor_->release());
  }
  note_outcome(top, Outcome::killed_by_plan, "");
  if (plan_.who == Victim::tree) {
    TRY(until_struck_gone());
  } else {
    if (plan_.signal != SIGKILL) TRY(until_struck_gone());
    for (const TracedProcess& process : supervisor_->processes()) {
      if (process.worker != 0 || process.end || process.killed) continue;
      note(event_of(EventKind::process_adopted, process, process.role));
    }
    if (plan_.order == OrphanOrder::held) return orphans_held();
    TRY(orphans_first());
  }
  if (!waiter_) return plan_.waiters == 0 ? recovery() : recovery_after(Outcome::none);
  TRY_ASSIGN(const Halt end, until_gone(1));
  TRY(conclude(end, *waiter_));
  supervisor_->kill_worker(1);
  TRY(until_gone(1));
  return recovery_after(last_outcome());
}

Result<void> TracedLane::orphans_first() {
  TRY_ASSIGN(const Halt end, until_gone(0));
  if (end != Halt::done && end != Halt::all_ended) note(event_of(EventKind::watchdog, orphans_stay));
  standing_ = Standing::nobody;
  return supervisor_->release();
}

Result<void> TracedLane::orphans_held() {
  if (!waiter_ && round_ == 1) {
    round_ = 2;
    note_round();
    TRY_ASSIGN(waiter_, start_worker());
  }
  if (waiter_) {
    Halt held = Halt::done;
    for (;;) {
      TRY_ASSIGN(held, until_gone(1));
      if (held != Halt::held) break;
      // The successor waits for the orphan: that one has to move first.
      holding_ = false;
      TRY(supervisor_->release());
    }
    TRY(conclude(held, *waiter_));
    supervisor_->kill_worker(1);
  }
  holding_ = false;
  TRY(supervisor_->release());
  TRY_ASSIGN(const Halt end, until_gone(0));
  if (end == Halt::stuck || end == Halt::limit) note(event_of(EventKind::watchdog, orphans_stay));
  TRY(fresh());
  return drain();
}

}  // namespace jitrace
