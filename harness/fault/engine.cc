#include "fault/engine.h"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace jitrace {
namespace {

bool is_tool(Victim who) {
  return who == Victim::build_tool || who == Victim::compiler || who == Victim::shell || who == Victim::stage;
}

// Victims that are found through the builder that stands at the point.
bool goes_by_builder(Victim who) {
  return who == Victim::builder || who == Victim::group || who == Victim::tree || who == Victim::other || is_tool(who);
}

bool ends_builder(const FaultPlan& fault) {
  return fault.kind == FaultKind::exit_137 || (fault.kind == FaultKind::kill && fault.who == Victim::builder);
}

}  // namespace

FaultEngine::FaultEngine(const Plan& plan, World& world, Control& control)
    : plan_(plan), world_(world), control_(control) {
  for (const FaultPlan& fault : plan.faults) armed_.push_back({fault, static_cast<int>(armed_.size())});
}

void FaultEngine::arm() {
  for (const Armed& armed : armed_) {
    if (!armed.fault.at_random) control_.arm(armed.fault.point);
    if (armed.fault.until != Point::none) control_.arm(armed.fault.until);
  }
}

bool FaultEngine::matches(const Armed& armed, const Event& arrival) const {
  const FaultPlan& fault = armed.fault;
  if (armed.fired || armed.waits || fault.at_random || fault.point != arrival.point) return false;
  const auto actor = world_.actor(arrival);
  if (fault.who == Victim::daemon) return !actor;
  // What a daemon builds, it builds alone: it is builder 1, and the tools are that builder's.
  if (!actor) return goes_by_builder(fault.who) && fault.index == 1;
  if (goes_by_builder(fault.who)) {
    // Before anybody holds the lock there is no builder yet: the first to come there is taken for it.
    const int ticket = world_.builder_ticket(*actor);
    if (ticket == 0) return fault.index == 1;
    return ticket == fault.index;
  }
  if (fault.who == Victim::waiter) return world_.waiter_ticket(*actor) == fault.index;
  return fault.who == Victim::worker && static_cast<int>(*actor) + 1 == fault.index;
}

void FaultEngine::on_event(const Event& event) {
  if (event.kind == EventKind::tool_begin || event.kind == EventKind::waiting) {
    for (const Late& late : std::exchange(late_, {})) {
      if (too_early(armed_[late.armed], late.arrival)) late_.push_back(late);
      else fire_late(late);
    }
  }
  if (event.kind == EventKind::reached && event.a != 0) arrived(event);
  if (event.kind == EventKind::reached || event.kind == EventKind::loaded) continue_stopped(event);
  if (event.kind == EventKind::loaded && event.a == 0 && orphan_held_ && !killed_.contains(event.slot)) release_orphan();
}

void FaultEngine::arrived(const Event& arrival) {
  for (Armed& armed : armed_) {
    if (!matches(armed, arrival) || ++armed.seen < armed.fault.occurrence) continue;
    if (too_early(armed, arrival)) {
      armed.waits = true;
      late_.push_back({static_cast<std::size_t>(armed.index), arrival});
      return;
    }
    fire(armed, arrival);
    return;
  }
  if (holds_successors(arrival)) {
    successors_.push_back(arrival.slot);
    return;
  }
  control_.release(arrival.slot, Order::go);
}

int FaultEngine::waiters_missing(const FaultPlan& fault, const Event& arrival) const {
  return fault.waiters - world_.waiting_besides(world_.actor(arrival).value_or(driver_slot));
}

// A builder announces its shell or ninja once it has started it; what that one starts may be faster.
bool FaultEngine::too_early(const Armed& armed, const Event& arrival) const {
  if (waiters_missing(armed.fault, arrival) > 0) return true;
  const Victim who = armed.fault.who;
  if (who != Victim::shell && who != Victim::build_tool) return false;
  return !world_.workers().contains(arrival.slot) && tool_of(who, arrival) <= 0;
}

void FaultEngine::fire_late(Late late) {
  armed_[late.armed].waits = false;
  fire(armed_[late.armed], late.arrival);
}

// While orphans have to go first, whoever would build or load next waits.
bool FaultEngine::holds_successors(const Event& arrival) const {
  if (!orphans_pending_) return false;
  const auto actor = world_.actor(arrival);
  return actor && !killed_.contains(*actor) && world_.workers().contains(arrival.slot) &&
         (arrival.point == Point::lock_held || arrival.point == Point::spawn || arrival.point == Point::load);
}

void FaultEngine::fire(Armed& armed, const Event& arrival) {
  const Slot actor = world_.actor(arrival).value_or(driver_slot);
  armed.fired = true;
  armed.victim = actor;
  const bool orphan_left = ends_builder(armed.fault) && !world_.workers().contains(arrival.slot);
  const OrphanOrder order = armed.fault.order == OrphanOrder::none ? OrphanOrder::first : armed.fault.order;
  if (orphan_left) {
    // Gates close before the victim dies: its lock is free the moment it does.
    orphans_pending_ = order == OrphanOrder::first;
    if (orphans_pending_) {
      for (const Point point : {Point::lock_held, Point::spawn, Point::load}) control_.arm(point);
    }
  }
  Event fired;
  fired.kind = EventKind::fault_fired;
  fired.stamp = now();
  fired.slot = actor;
  fired.point = arrival.point;
  fired.key = arrival.key;
  fired.attempt = arrival.attempt;
  fired.a = armed.index;
  const auto what = act(armed, arrival, actor);
  if (!what) {
    armed.fired = false;
    orphans_pending_ = false;
    fired.kind = EventKind::fault_missed;
    fired.text = what.error().message();
    control_.note(fired);
    control_.release(arrival.slot, Order::go);
    armed.seen = armed.fault.occurrence;  // once is enough: the next arrival would be another step
    return;
  }
  fired.text = *what;
  control_.note(fired);
  if (orphan_left && order == OrphanOrder::held) {
    orphan_held_ = true;
    orphan_slot_ = arrival.slot;
    reload_ = true;
    return;
  }
  // A dead process needs no order; one that lives on (a stopped one too, once continued) must find its gate open.
  control_.release(arrival.slot, Order::go);
}

Result<std::string> FaultEngine::act(Armed& armed, const Event& arrival, Slot actor) {
  const FaultPlan& fault = armed.fault;
  if (const int missing = waiters_missing(fault, arrival); missing > 0) {
    return plain_error("fire a fault", std::to_string(fault.waiters) + " others should wait by then, and " +
                                           std::to_string(fault.waiters - missing) + " did");
  }
  switch (fault.kind) {
    case FaultKind::kill:
    case FaultKind::stop:
      return kill(armed, arrival, actor);
    case FaultKind::exit_137:
      killed_.insert(actor);
      if (arrival.slot == actor) control_.release(actor, Order::exit_137);
      else TRY(control_.exit_137(actor));
      return describe(fault);
    case FaultKind::wipe:
    case FaultKind::clear:
    case FaultKind::force_rebuild:
      TRY(control_.damage_cache(fault.path.empty() && fault.kind != FaultKind::wipe ? "{entry}" : fault.path, "remove", actor));
      return describe(fault);
    case FaultKind::damage:
      TRY(control_.damage_cache(fault.path.empty() ? "{artifact}" : fault.path, std::string(name_of(fault.damage)), actor));
      return describe(fault);
    case FaultKind::unlink_lock:
      TRY(control_.damage_cache(fault.path.empty() ? "{lock}" : fault.path, "remove", actor));
      return describe(fault);
  }
  return plain_error("fire a fault", "its kind is not known");
}

Result<std::string> FaultEngine::kill(Armed& armed, const Event& arrival, Slot actor) {
  const FaultPlan& fault = armed.fault;
  const int number = fault.kind == FaultKind::stop ? SIGSTOP : fault.signal;
  WorkerState* worker = world_.worker(actor);
  if (is_tool(fault.who) || fault.who == Victim::daemon) {
    const pid_t pid = tool_of(fault.who, arrival);
    if (pid <= 0) return plain_error("fire a fault", "no " + std::string(name_of(fault.who)) + " runs for this build");
    TRY(control_.signal_tool(pid, number));
    armed.tool = pid;
    armed.stopped = number == SIGSTOP;
    for (ToolState& tool : world_.tools()) {
      if (tool.pid == pid) tool.continue_planned = armed.stopped && fault.until != Point::none;
    }
    return describe(fault) + ", pid " + std::to_string(pid);
  }
  if (worker == nullptr) {
    const pid_t daemon = tool_of(Victim::daemon, arrival);
    if (daemon <= 0 || fault.who == Victim::group) return plain_error("fire a fault", "there is no such builder");
    armed.tool = daemon;
    armed.stopped = number == SIGSTOP;
    if (fault.who == Victim::tree) TRY(control_.signal_tree(daemon, number));
    else TRY(control_.signal_tool(daemon, number));
    return describe(fault) + ", which is the daemon, pid " + std::to_string(daemon);
  }
  // Its number may be another's by now.
  if (worker->ended) return plain_error("fire a fault", world_.name(actor) + " has ended");
  if (number == SIGSTOP) {
    armed.stopped = true;
    worker->stopped = true;
    worker->continue_planned = fault.until != Point::none;
  } else {
    killed_.insert(actor);
  }
  switch (fault.who) {
    case Victim::tree:
      TRY(control_.signal_tree(worker->pid, number));
      break;
    case Victim::group:
      TRY(control_.signal_group(actor, number));
      break;
    case Victim::none:
    case Victim::builder:
    case Victim::waiter:
    case Victim::worker:
    case Victim::build_tool:
    case Victim::compiler:
    case Victim::shell:
    case Victim::stage:
    case Victim::daemon:
    case Victim::other:
      TRY(control_.signal_worker(actor, number));
  }
  return describe(fault) + ", pid " + std::to_string(worker->pid);
}

// The tool of that role which works for the arriving attempt: the arriving process itself, an ancestor of it, or the
// last of that role to be announced.
pid_t FaultEngine::tool_of(Victim who, const Event& arrival) const {
  if (who == Victim::stage) return world_.workers().contains(arrival.slot) ? -1 : static_cast<pid_t>(arrival.pid);
  const ToolRole role = who == Victim::build_tool ? ToolRole::build_tool
                        : who == Victim::compiler ? ToolRole::compiler
                        : who == Victim::shell    ? ToolRole::shell
                                                  : ToolRole::daemon;
  pid_t last = -1;
  for (const ToolState& tool : world_.tools()) {
    if (tool.role == role && (tool.attempt == arrival.attempt || role == ToolRole::daemon)) last = tool.pid;
  }
  return last;
}

void FaultEngine::continue_stopped(const Event& event) {
  // Who has loaded was at `load`; one that stood there when the other was stopped says it only now.
  const Point point = event.kind == EventKind::loaded ? Point::load : event.point;
  const auto actor = world_.actor(event);
  for (Armed& armed : armed_) {
    if (armed.stopped && armed.fault.until == point && actor && *actor != armed.victim) go_on(armed);
  }
}

void FaultEngine::go_on(Armed& armed) {
  armed.stopped = false;
  WorkerState* worker = world_.worker(armed.victim);
  const bool alive = worker != nullptr && !worker->ended;
  Result<void> sent = make_error("continue worker", std::to_string(armed.victim), ESRCH);
  if (armed.tool > 0) sent = control_.signal_tool(armed.tool, SIGCONT);
  else if (alive && armed.fault.who == Victim::tree) sent = control_.signal_tree(worker->pid, SIGCONT);
  else if (alive && armed.fault.who == Victim::group) sent = control_.signal_group(armed.victim, SIGCONT);
  else if (alive) sent = control_.signal_worker(armed.victim, SIGCONT);
  for (ToolState& tool : world_.tools()) {
    if (armed.tool > 0 && tool.pid == armed.tool) tool.continue_planned = false;
  }
  if (sent) {
    if (worker != nullptr) worker->stopped = false;
    return;
  }
  Event missed;
  missed.kind = EventKind::fault_missed;
  missed.a = armed.index;
  missed.text = sent.error().message();
  control_.note(missed);
}

void FaultEngine::on_orphans_gone() {
  if (!orphans_pending_) return;
  orphans_pending_ = false;
  release_successors();
}

void FaultEngine::release_successors() {
  for (const Slot slot : successors_) control_.release(slot, Order::go);
  successors_.clear();
}

void FaultEngine::release_orphan() {
  if (!orphan_held_) return;
  orphan_held_ = false;
  control_.release(orphan_slot_, Order::go);
}

bool FaultEngine::release_stuck() {
  if (!late_.empty()) {
    // Nobody is left who could announce it, or wait: that the fault misses is written down.
    for (const Late& late : std::exchange(late_, {})) fire_late(late);
    return true;
  }
  if (orphan_held_) {
    // The successor waits for the orphan (it inherited the lock), or there is none: the orphan has to move first.
    release_orphan();
    return true;
  }
  if (!successors_.empty() && !orphans_pending_) {
    release_successors();
    return true;
  }
  for (Armed& armed : armed_) {
    if (!armed.stopped || armed.fault.until == Point::none) continue;
    go_on(armed);
    return true;
  }
  return false;
}

void FaultEngine::finish() {
  for (const Armed& armed : armed_) {
    if (armed.fired || armed.fault.at_random || armed.seen >= armed.fault.occurrence) continue;
    Event missed;
    missed.kind = EventKind::fault_missed;
    missed.a = armed.index;
    missed.point = armed.fault.point;
    missed.text = describe(armed.fault) + ": nobody came there";
    control_.note(missed);
  }
}

}  // namespace jitrace
