#include "verdict/trial_view.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace jitrace {

bool hits_tool(const FaultPlan& fault) {
  return fault.who == Victim::build_tool || fault.who == Victim::compiler || fault.who == Victim::shell ||
         fault.who == Victim::stage || fault.who == Victim::daemon;
}

bool kills(FaultKind kind) { return kind == FaultKind::kill || kind == FaultKind::exit_137; }

TrialView::TrialView(const Plan& plan_, const History& history_) : plan(plan_), history(history_) {
  if (!history.events.empty()) {
    begin = end = history.events.front().stamp;
    for (const Event& event : history.events) {
      begin = std::min(begin, event.stamp);
      end = std::max(end, event.stamp);
    }
  }
  read_processes();
  read_work();
  read_attempts();
  decide_outcomes();
}

void TrialView::read_processes() {
  const std::size_t width = std::max<std::size_t>(1, plan.workers.size());
  for (const Event& event : history.events) {
    if (event.kind == EventKind::round_begin) rounds_.emplace_back(static_cast<int>(event.a), event.stamp);
    if (event.kind == EventKind::watchdog) watchdog = true;
    if (event.kind == EventKind::process_started && event.slot != driver_slot) {
      WorkerFact worker;
      worker.slot = event.slot;
      worker.pid = event.pid;
      worker.index = static_cast<int>(event.slot % width);
      worker.round = static_cast<int>(event.slot / width) + 1;
      worker.last_sign = event.stamp;
      if (plan.command.empty() && !plan.workers.empty()) {
        worker.preset = find_preset(plan.workers[static_cast<std::size_t>(worker.index)].preset);
      }
      workers[event.slot] = worker;
    }
    if (event.kind == EventKind::fault_fired && event.a >= 0) {
      faults.push_back({event.stamp, event.slot, event.pid, static_cast<std::size_t>(event.a), event.text});
    }
  }
  // A kill that was sent and then found its victim ended did not fire.
  for (const Event& event : history.events) {
    if (event.kind != EventKind::fault_missed) continue;
    std::erase_if(faults, [&](const FaultFact& fault) { return fault.index == static_cast<std::size_t>(event.a); });
  }
  for (const Event& event : history.events) {
    const auto found = workers.find(event.slot);
    if (found == workers.end()) continue;
    WorkerFact& worker = found->second;
    if (event.kind == EventKind::process_ended) {
      worker.how = event.b == 1 ? Ended::by_plan : event.b == 2 ? Ended::by_clean_up : Ended::by_itself;
      worker.ended = event.stamp;
      worker.status = static_cast<int>(event.a);
    }
    if (event.kind == EventKind::ready) worker.announced = true;
    if (event.kind == EventKind::hang_proved) worker.hang_proved = true;
    if (event.kind > EventKind::settled) worker.last_sign = std::max(worker.last_sign, event.stamp);
  }
  for (auto& [slot, worker] : workers) {
    for (const FaultFact& fault : faults) {
      const FaultPlan* plan_of = planned(fault);
      if (plan_of == nullptr) continue;
      if (worker.how == Ended::by_plan && kills(plan_of->kind) && fault.stamp <= *worker.ended) {
        // The victim's own fault where there is one; else the last that could have reached it (a group, a tree).
        if (!worker.killed || fault.slot == slot || fault.stamp > *worker.killed) worker.killed = fault.stamp;
      }
      if (plan_of->kind == FaultKind::stop && plan_of->until == Point::none && !hits_tool(*plan_of) &&
          fault.slot == slot) {
        worker.stopped_for_ever = true;
      }
    }
    if (worker.how == Ended::by_plan && !worker.killed) worker.killed = worker.ended;
  }
}

void TrialView::read_work() {
  std::map<std::pair<Slot, std::uint16_t>, int> gets;
  std::vector<HoldFact> open;
  for (const Event& event : history.events) {
    const auto close_wait = [&](WaitEnd how) {
      for (auto wait = waits.rbegin(); wait != waits.rend(); ++wait) {
        if (wait->slot != event.slot || wait->end) continue;
        wait->end = event.stamp;
        wait->how = how;
        break;
      }
    };
    if (event.kind == EventKind::get_begin) ++gets[{event.slot, event.key}];
    if (event.kind == EventKind::waiting) {
      waits.push_back({event.slot, event.key, static_cast<ConditionKind>(event.a), event.b, event.text, event.stamp, {},
                       WaitEnd::satisfied});
    }
    if (event.kind == EventKind::wait_over) close_wait(static_cast<WaitEnd>(event.a));
    if (event.kind == EventKind::loaded) {
      LoadFact load{event.stamp, event.slot, event.key,     std::max(0, gets[{event.slot, event.key}] - 1),
                    event.a,     event.b,    event.attempt, event.text,
                    true};
      for (LoadFact& earlier : loads) {
        if (earlier.slot == load.slot && earlier.key == load.key && earlier.get == load.get)
          earlier.last_of_get = false;
      }
      loads.push_back(std::move(load));
    }
    if (event.kind == EventKind::tool_begin) {
      tools.push_back({event.slot, event.pid, event.attempt, static_cast<ToolRole>(event.a), event.text});
    }
    if (event.kind == EventKind::tool_output) outputs.push_back({event.stamp, event.attempt, event.a, event.text});
    if (event.kind != EventKind::reached) continue;
    if (event.point == Point::lock_held) {
      open.push_back({event.text, event.b, event.key, event.slot, event.stamp, 0, ""});
    }
    if (event.point == Point::unlock) {
      // Nested locks go in the reverse order; one that names no path is the innermost.
      for (auto hold = open.rbegin(); hold != open.rend(); ++hold) {
        if (hold->slot != event.slot || (!event.text.empty() && hold->path != event.text)) continue;
        hold->end = event.stamp;
        hold->ended_by = "unlock";
        holds.push_back(*hold);
        open.erase(std::next(hold).base());
        break;
      }
    }
  }
  close_holds(open);
}

void TrialView::close_holds(std::vector<HoldFact>& open) {
  for (HoldFact& hold : open) {
    const WorkerFact* owner = worker(hold.slot);
    if (owner == nullptr) {
      hold.end = gone(hold.slot).value_or(end);
      hold.ended_by = "its end";
    } else if (owner->killed) {
      hold.end = *owner->killed;
      hold.ended_by = "the kill";
    } else if (owner->how == Ended::by_itself) {
      hold.end = owner->last_sign;
      hold.ended_by = "its end";
    } else {
      hold.end = owner->ended.value_or(end);
      hold.ended_by =
          owner->stopped_for_ever ? "nothing: it was stopped, and alive" : "nothing: it was alive to the end";
    }
    holds.push_back(hold);
  }
  std::stable_sort(holds.begin(), holds.end(),
                   [](const HoldFact& left, const HoldFact& right) { return left.begin < right.begin; });
}

void TrialView::read_attempts() {
  for (const Event& event : history.events) {
    if (event.kind == EventKind::attempt_begin) {
      AttemptFact attempt;
      attempt.id = event.attempt;
      attempt.key = event.key;
      attempt.slot = event.slot;
      attempt.begin = event.stamp;
      attempts.push_back(std::move(attempt));
    }
    if (event.kind == EventKind::attempt_end) {
      for (AttemptFact& attempt : attempts) {
        if (attempt.id != event.attempt || attempt.end) continue;
        attempt.end = event.stamp;
        attempt.status = event.a;
        attempt.output = event.text;
        attempt.compiled = event.b != 1;
      }
    }
  }
}

void TrialView::decide_outcomes() {
  for (const Event& event : history.events) {
    const auto found = workers.find(event.slot);
    if (event.kind != EventKind::outcome || found == workers.end()) continue;
    if (found->second.outcome != Outcome::none) continue;  // first cause wins
    found->second.outcome = static_cast<Outcome>(event.a);
    found->second.error = event.text;
  }
  for (auto& [slot, worker] : workers) {
    if (worker.outcome != Outcome::none) continue;
    if (worker.killed || worker.stopped_for_ever) {
      worker.outcome = Outcome::killed_by_plan;
    } else if (worker.hang_proved) {
      worker.outcome = Outcome::hung;
    } else if (worker.how == Ended::by_clean_up || worker.how == Ended::not_seen) {
      worker.outcome = Outcome::stalled;
    } else if (WIFSIGNALED(worker.status)) {
      const int signal = WTERMSIG(worker.status);
      const bool sent = signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
      worker.outcome = sent ? Outcome::killed_by_other : Outcome::crashed;
      worker.error = fmt::format("killed by signal {}", signal);
    } else if (plan.command.empty() && !worker.announced) {
      worker.outcome = Outcome::could_not_start;
      worker.error = fmt::format("exit {} before it was ready", WEXITSTATUS(worker.status));
    } else {
      const int code = WEXITSTATUS(worker.status);
      worker.outcome = code == 0 ? Outcome::served : Outcome::failed;
      if (code != 0) worker.error = fmt::format("exit {}", code);
    }
  }
}

const WorkerFact* TrialView::worker(Slot slot) const {
  const auto found = workers.find(slot);
  return found == workers.end() ? nullptr : &found->second;
}

const AttemptFact* TrialView::attempt(std::uint64_t id) const {
  for (const AttemptFact& attempt : attempts) {
    if (attempt.id == id) return &attempt;
  }
  return nullptr;
}

const FaultPlan* TrialView::planned(const FaultFact& fault) const {
  return fault.index < plan.faults.size() ? &plan.faults[fault.index] : nullptr;
}

const FaultFact* TrialView::first_kill() const {
  for (const FaultFact& fault : faults) {
    const FaultPlan* plan_of = planned(fault);
    if (plan_of != nullptr && kills(plan_of->kind)) return &fault;
  }
  return nullptr;
}

Slot TrialView::owner_of(const FaultFact& fault) const {
  if (worker(fault.slot) != nullptr) return fault.slot;
  for (const ToolFact& tool : tools) {
    const bool same =
        (fault.slot != driver_slot && tool.slot == fault.slot) || (fault.pid != 0 && tool.pid == fault.pid);
    if (!same) continue;
    if (const AttemptFact* made_by = attempt(tool.attempt)) return made_by->slot;
    return tool.slot;
  }
  return fault.slot;
}

bool TrialView::hit_by_plan(Slot slot) const {
  const WorkerFact* fact = worker(slot);
  if (fact != nullptr && !fact->survivor()) return true;
  return std::any_of(faults.begin(), faults.end(), [&](const FaultFact& fault) {
    const FaultPlan* plan_of = planned(fault);
    const bool at_process = plan_of != nullptr && (kills(plan_of->kind) || plan_of->kind == FaultKind::stop);
    return at_process && owner_of(fault) == slot;
  });
}

std::optional<Nanoseconds> TrialView::gone(Slot slot) const {
  if (const WorkerFact* fact = worker(slot)) {
    if (fact->killed) return fact->killed;
    return fact->how == Ended::by_clean_up ? std::nullopt : fact->ended;
  }
  std::optional<Nanoseconds> ended;
  for (const FaultFact& fault : faults) {
    const FaultPlan* plan_of = planned(fault);
    if (fault.slot == slot && plan_of != nullptr && kills(plan_of->kind)) return fault.stamp;
  }
  for (const Event& event : history.events) {
    if (event.kind == EventKind::tool_end && event.slot == slot) ended = event.stamp;
  }
  return ended;
}

int TrialView::round_at(Nanoseconds stamp) const {
  int round = 1;
  for (const auto& [number, began] : rounds_) {
    if (began <= stamp) round = number;
  }
  return round;
}

bool TrialView::daemon(std::uint32_t pid) const {
  return std::any_of(tools.begin(), tools.end(),
                     [&](const ToolFact& tool) { return tool.pid == pid && tool.role == ToolRole::daemon; });
}

bool TrialView::explained(Slot slot) const {
  const WorkerFact* fact = worker(slot);
  if (fact != nullptr && !fact->survivor()) return true;
  return std::any_of(faults.begin(), faults.end(), [&](const FaultFact& fault) {
    const FaultPlan* plan_of = planned(fault);
    return plan_of != nullptr && kills(plan_of->kind) && hits_tool(*plan_of) && plan_of->who != Victim::daemon &&
           owner_of(fault) == slot;
  });
}

std::string TrialView::kernel(std::uint16_t key) const {
  return key < plan.kernels.size() ? plan.kernels[key] : fmt::format("key {}", key);
}

std::string TrialView::who(Slot slot) const {
  if (slot == driver_slot) return "the driver";
  const WorkerFact* fact = worker(slot);
  if (fact == nullptr) return fmt::format("tool {}", slot);
  if (fact->round == 1) return fmt::format("worker {}", fact->index + 1);
  return fmt::format("worker {} of round {}", fact->index + 1, fact->round);
}

std::string TrialView::when(Nanoseconds stamp) const { return fmt::format("+{:.1f} ms", to_ms(stamp - begin)); }

}  // namespace jitrace
