// What a lane writes down of the calls it sees, and what it does at them.
#include <fcntl.h>

#include <algorithm>
#include <initializer_list>

#include "base/file.h"
#include "plan/call_words.h"
#include "trace/lane.h"
#include "trace/lane_parts.h"

namespace jitrace {
namespace {

bool is_one_of(Op op, std::initializer_list<Op> ops) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

// Whether it would change the cache, as far as that can be said before it.
bool may_change(const Call& call) {
  if (call.op == Op::open) return (call.flags & (O_CREAT | O_TRUNC)) != 0;
  return !is_one_of(call.op, {Op::stat, Op::access, Op::read_link, Op::list, Op::sync, Op::close, Op::flock, Op::range_lock});
}

bool makes_a_name(const TracedCall& call) {
  if (call.call.op == Op::open) return (call.call.flags & O_CREAT) != 0 && !call.existed;
  return is_one_of(call.call.op, {Op::make_dir, Op::make_node, Op::rename, Op::link, Op::symlink});
}

}  // namespace

// Who made this file, and what became of him.
std::string TracedLane::maker_of(const std::string& path) const {
  if (const auto found = made_by_.find(path); found != made_by_.end()) {
    const TracedProcess& maker = supervisor_->processes()[static_cast<std::size_t>(found->second)];
    std::string fate = "which still lives";
    if (maker.killed) fate = "which the plan killed";
    else if (maker.end) fate = "which has ended";
    return label(found->second) + ", " + fate;
  }
  const std::string pattern = path_pattern(path);
  for (auto step = plan_.steps.rbegin(); step != plan_.steps.rend(); ++step) {
    const std::size_t at = step->find(": ");
    const std::string what = step->substr(at + 2);
    if (CallWords(what).may_make() == pattern) return step->substr(0, at) + ", which was killed with its tree";
  }
  return {};
}

void TracedLane::note_stuck(int top) {
  const Supervisor::Stuck& stuck = supervisor_->stuck();
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(top)];
  using How = Supervisor::Waiting::How;
  const Supervisor::Waiting* telling = nullptr;
  const auto rank = [](How how) { return how == How::lock ? 0 : how == How::poll ? 1 : how == How::stopped ? 2 : how == How::outside ? 3 : how == How::sleep ? 4 : how == How::child ? 6 : 5; };
  for (const Supervisor::Waiting& waiting : stuck.waiting) {
    if (supervisor_->processes()[static_cast<std::size_t>(waiting.process)].worker != process.worker) continue;
    if (telling == nullptr || rank(waiting.how) < rank(telling->how)) telling = &waiting;
  }
  if (telling == nullptr) return note_outcome(top, Outcome::stalled, "nobody moves, and nobody says what for");
  std::string chain = label(telling->process);
  HangCause cause = HangCause::stale_owner;
  if (telling->how == How::lock) {
    chain += " waits for ever: " + telling->what;
    cause = HangCause::lock_never_returns;
    for (const pid_t owner : telling->owners) {
      std::string who = owner < 0 ? std::string("an open file") : "pid " + std::to_string(owner);
      for (const TracedProcess& known : supervisor_->processes()) {
        if (known.pid != owner) continue;
        who = label(known.index);
        if (known.end) {
          who += known.killed ? ", which the plan killed: a child has inherited the descriptor" : ", which has ended: a child has inherited the descriptor";
          cause = HangCause::inherited_descriptor;
        } else {
          who += ", which lives and does not move";
          cause = HangCause::live_stuck_owner;
        }
      }
      chain += "; held by " + who;
    }
  } else {
    if (telling->how == How::stopped) {
      cause = HangCause::live_stuck_owner;
      chain += " is " + telling->what;
    } else {
      chain += telling->how == How::poll ? " polls for ever: " + telling->what : " waits for ever: " + telling->what;
    }
    std::string maker = telling->path.empty() ? std::string() : maker_of(telling->path);
    // A lost reply: it does not know what it has.
    if (const auto made = made_by_.find(telling->path); made != made_by_.end() && made->second == telling->process) maker = "itself";
    if (!maker.empty()) chain += "; " + telling->path + " was made by " + maker;
    if (maker.find("still lives") != std::string::npos || maker == "itself") cause = HangCause::live_stuck_owner;
  }
  if (stuck.outside) return note_outcome(top, Outcome::stalled, chain + "; not proved: it may be woken from outside of its tree");
  chain += stuck.outright ? "; proved: nobody can move"
                          : "; proved to " + std::to_string(stuck.passed / seconds(3600)) + "." +
                                std::to_string(stuck.passed / seconds(360) % 10) + " virtual hours, " +
                                std::to_string(stuck.polls) + " wake-ups without a change";
  Event event = event_of(EventKind::hang_proved, process, chain);
  event.a = static_cast<std::int64_t>(cause);
  event.b = round_;
  note(std::move(event));
  note_outcome(top, Outcome::hung, chain);
}

// The cache as a kill at this moment would leave it, everybody standing still. None where somebody outside of the tree holds
// a lock, which no copy has and who may let go meanwhile: the kill itself will say.
Result<void> TracedLane::save_snapshot(const std::string& role, const std::string& what, int occurrence) {
  const StepName moment{role, what, occurrence, Side::after};
  const auto wanted = std::find(plan_.snapshot_at.begin(), plan_.snapshot_at.end(), moment);
  if (wanted == plan_.snapshot_at.end()) return {};
  if (supervisor_->locked_from_outside(own())) return {};
  for (const std::string& path : paths_beside()) {
    if (supervisor_->locked_from_outside(path)) return {};
  }
  const std::string to = join(plan_.snapshots, std::to_string(wanted - plan_.snapshot_at.begin()));
  return supervisor_->freeze([this, &to]() -> Result<void> {
    TRY(copy_contents(own(), to));
    return save_beside(to);
  });
}

// A program that is not the recorded one is named by the step at which it left its way.
void TracedLane::follow_steps(const std::string& role_and_step) {
  if (plan_.steps.empty() || diverged_ || struck_) return;
  const std::string role = role_and_step.substr(0, role_and_step.find(": "));
  // Whoever is below one of several is below any of them, and whoever started them does things as they end.
  const bool unordered = std::any_of(plan_.unordered.begin(), plan_.unordered.end(), [&role](const std::string& of) {
    return role == of || role.starts_with(of + "/") || role == parent_of(of);
  });
  if (unordered) return;
  const auto& due = steps_due_[role];
  std::size_t& done = steps_done_[role];
  // How many pieces a file is written in is the C library's affair: the same step again is the same step.
  if (done > 0 && done <= due.size() && due[done - 1] == role_and_step) return;
  if (done < due.size() && due[done] != role_and_step) diverged_ = "instead of \"" + due[done] + "\" came \"" + role_and_step + "\"";
  ++done;
}

Ruling TracedLane::before(const TracedCall& call) {
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(call.process)];
  if (process.worker == 0 && round_ == 1 && !struck_ && standing_ == Standing::nobody) {
    occurrence_[call.thread] = ++seen_[{process.role, call.what}];
    if (const auto ruling = at_step(call)) return *ruling;
  }
  if (holding_ && process.worker == 0 && may_change(call.call)) return {.kind = Ruling::Kind::hold};
  const bool stands = (standing_ == Standing::builder && process.worker == 0) ||
                      (standing_ == Standing::waiter && process.worker == 1);
  return {.kind = stands ? Ruling::Kind::hold : Ruling::Kind::go};
}

void TracedLane::after(const TracedCall& call, std::int64_t result, Changed changed) {
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(call.process)];
  Event event = event_of(EventKind::call, process, call.what);
  event.a = result;
  event.b = changed == Changed::yes ? 1 : 0;
  note(std::move(event));
  if (changed == Changed::yes && makes_a_name(call)) made_by_[call.path2.empty() ? call.path : call.path2] = call.process;
  if (process.worker == 1) looked_ = true;
  if (process.worker == 1 && changed == Changed::yes) idle_ = 0;
  if (process.worker != 0 || round_ != 1 || struck_ || standing_ != Standing::nobody) return;
  if (changed == Changed::yes) follow_steps(process.role + ": " + call.what);
  if (plan_.work == TraceWork::record && !plan_.snapshots.empty() && changed == Changed::yes) {
    const auto saved = save_snapshot(process.role, call.what, occurrence_[call.thread]);
    if (!saved) failed_ = saved.error();
  }
  if (plan_.work == TraceWork::kill && is_step(call, Side::after)) arrive();
}

void TracedLane::started(const TracedProcess& process) {
  Event event = event_of(EventKind::process_started, process, process.role + "|" + process.arguments);
  event.a = process.parent;
  event.b = process.replayed ? 1 : 0;
  note(std::move(event));
}

void TracedLane::ended(const TracedProcess& process) {
  Event event = event_of(EventKind::process_ended, process);
  event.a = process.end->raw();
  event.b = process.killed ? 1 : 0;
  note(std::move(event));
}

void TracedLane::parked(const TracedCall& call) {
  if (supervisor_->processes()[static_cast<std::size_t>(call.process)].worker == 1) waits_ = true;
  note(event_of(EventKind::parked, supervisor_->processes()[static_cast<std::size_t>(call.process)], call.what));
}

void TracedLane::passed(Nanoseconds time) {
  // Once may be a pause of its own; twice without a change between is a wait.
  if (waiter_ && looked_ && ++idle_ >= 2) waits_ = true;
  // A poller's wake-ups come by the thousand: they are one event until something else happens.
  for (auto event = history_.events.rbegin(); event != history_.events.rend(); ++event) {
    if (event->kind == EventKind::time_passed) {
      event->a += time;
      return;
    }
    if (event->kind != EventKind::process_started && event->kind != EventKind::process_ended &&
        (event->kind != EventKind::call || event->b != 0)) {
      break;
    }
  }
  Event event = event_of(EventKind::time_passed, "nobody could move");
  event.a = time;
  note(std::move(event));
}

void TracedLane::bypassed(const TracedProcess& process, const std::string& how) {
  if (!bypasses_.insert(process.role + how).second) return;
  note(event_of(EventKind::warned, process, process.role + ": " + how));
}

}  // namespace jitrace
