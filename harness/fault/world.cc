#include "fault/world.h"

#include <algorithm>

namespace jitrace {
namespace {

void take_ticket(std::vector<Slot>& tickets, Slot slot) {
  if (std::find(tickets.begin(), tickets.end(), slot) == tickets.end()) tickets.push_back(slot);
}

int ticket_of(const std::vector<Slot>& tickets, Slot slot) {
  const auto found = std::find(tickets.begin(), tickets.end(), slot);
  return found == tickets.end() ? 0 : static_cast<int>(found - tickets.begin()) + 1;
}

}  // namespace

void World::add_worker(Slot slot, int round, int client) {
  WorkerState& worker = workers_[slot];
  worker.slot = slot;
  worker.round = round;
  worker.client = client;
}

WorkerState* World::worker(Slot slot) {
  const auto found = workers_.find(slot);
  return found == workers_.end() ? nullptr : &found->second;
}

ToolState* World::tool(Slot slot) {
  if (slot == driver_slot) return nullptr;
  for (ToolState& tool : tools_) {
    if (tool.slot == slot) return &tool;
  }
  return nullptr;
}

std::optional<Slot> World::builder_of(std::uint64_t attempt) const {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return std::nullopt;
  return found->second;
}

std::optional<Slot> World::actor(const Event& event) const {
  if (workers_.contains(event.slot)) return event.slot;
  const auto builder = builder_of(event.attempt);
  return builder && workers_.contains(*builder) ? builder : std::nullopt;
}

int World::builder_ticket(Slot slot) const { return ticket_of(builders_, slot); }
int World::waiter_ticket(Slot slot) const { return ticket_of(waiters_, slot); }

std::string World::name(Slot slot) const {
  const auto found = workers_.find(slot);
  if (found == workers_.end()) return "tool " + std::to_string(slot);
  const int round = found->second.round;
  int index = 0;
  for (const auto& [other, worker] : workers_) {
    if (worker.round == round && other <= slot) ++index;
  }
  const std::string name = "worker " + std::to_string(index);
  return round == 1 ? name : name + " of round " + std::to_string(round);
}

int World::waiting_besides(Slot slot) const {
  return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [slot](const auto& entry) {
    return entry.first != slot && entry.second.wait && !entry.second.ended;
  }));
}

bool World::all_ended(int round) const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [round](const auto& entry) { return entry.second.round != round || entry.second.ended; });
}

void World::apply(const Event& event) {
  WorkerState* self = worker(event.slot);
  if (self != nullptr && event.kind != EventKind::process_ended) self->last_sign = event.stamp;
  switch (event.kind) {
    case EventKind::ready:
      if (self != nullptr) self->ready = true;
      break;
    case EventKind::reached:
      if (self != nullptr) {
        self->held = event.a != 0;
        self->gate = event.point;
        if (event.point == Point::lock_wait) take_ticket(waiters_, event.slot);
        if (event.point == Point::lock_held || event.point == Point::spawn) take_ticket(builders_, event.slot);
      } else if (ToolState* standing = tool(event.slot)) {
        standing->held = event.a != 0;
        standing->gate = event.point;
      }
      break;
    case EventKind::resumed:
      if (self != nullptr) self->held = false;
      else if (ToolState* standing = tool(event.slot)) standing->held = false;
      break;
    case EventKind::waiting:
      if (self != nullptr) {
        self->wait = Wait{static_cast<ConditionKind>(event.a), event.stamp, event.b, event.attempt, event.text};
      }
      break;
    case EventKind::wait_over:
      if (self != nullptr) self->wait.reset();
      break;
    case EventKind::attempt_begin:
      attempts_[event.attempt] = event.slot;
      if (self != nullptr) {
        self->attempt = event.attempt;
        self->compiling = true;
      }
      break;
    case EventKind::attempt_end:
      if (self != nullptr) self->compiling = false;
      break;
    case EventKind::loaded:
      if (self != nullptr && event.a == 0) self->loaded = true;
      break;
    case EventKind::tool_begin:
      if (event.slot == driver_slot || self != nullptr) {
        // Announced by the worker on behalf of a program that cannot announce itself: known by pid only.
        tools_.push_back({driver_slot, static_cast<pid_t>(event.pid), static_cast<pid_t>(event.b),
                          static_cast<ToolRole>(event.a), event.attempt, false, Point::none, false});
      } else {
        tools_.push_back({event.slot, static_cast<pid_t>(event.pid), static_cast<pid_t>(event.b),
                          static_cast<ToolRole>(event.a), event.attempt, false, Point::none, false});
      }
      break;
    case EventKind::process_started:
      if (self != nullptr) {
        self->started = true;
        self->pid = static_cast<pid_t>(event.pid);
      }
      break;
    case EventKind::process_ended:
      if (self != nullptr) {
        self->ended = true;
        self->held = false;
      }
      break;
    case EventKind::none:
    case EventKind::trial_begin:
    case EventKind::round_begin:
    case EventKind::round_end:
    case EventKind::process_adopted:
    case EventKind::fault_fired:
    case EventKind::fault_missed:
    case EventKind::hang_proved:
    case EventKind::watchdog:
    case EventKind::settled:
    case EventKind::released:
    case EventKind::get_begin:
    case EventKind::get_end:
    case EventKind::file_op:
    case EventKind::warned:
    case EventKind::outcome:
    case EventKind::tool_output:
    case EventKind::tool_end:
    case EventKind::served_request:
    case EventKind::call:  // traced trials know their world from the tracer
    case EventKind::parked:
    case EventKind::time_passed:
    case EventKind::elsewhere:
    case EventKind::counted:
      break;
  }
}

}  // namespace jitrace
