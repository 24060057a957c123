// What only free trials need: any command as a worker, and faults at a random moment.

#include <csignal>
#include <map>

#include "base/file.h"
#include "base/rng.h"
#include "trial/session.h"

namespace jitrace {

std::vector<std::string> Session::arguments(Slot slot, int index, const std::string& spec_path) const {
  if (plan_.command.empty()) return {join(setup_.libexec, "worker"), spec_path};
  std::vector<std::string> argv = plan_.command;
  const std::map<std::string, std::string> values = {
      {"{cache}", stage_.client_dirs[static_cast<std::size_t>(world_.workers().at(slot).client)]},
      {"{worker}", std::to_string(index)},
      {"{key}", plan_.kernels.empty() ? "" : plan_.kernels[static_cast<std::size_t>(index) % plan_.kernels.size()]},
      {"{out}", stage_.lane_dir}};
  for (std::string& argument : argv) {
    for (const auto& [name, value] : values) {
      for (std::size_t at = 0; (at = argument.find(name, at)) != std::string::npos; at += value.size()) {
        argument.replace(at, name.size(), value);
      }
    }
  }
  return argv;
}

void Session::schedule_random(int round, Nanoseconds start) {
  if (round != 1) return;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    if (!plan_.faults[i].at_random) continue;
    Rng rng(derive_seed(plan_.seed, 1000 + i));
    const auto part = static_cast<Nanoseconds>(rng.below(1'000'000));
    const auto typical = setup_.typical.find(plan_.subject);
    const Nanoseconds span = typical == setup_.typical.end() ? seconds(1) : typical->second;
    timed_.push_back({start + span / 1'000'000 * part, static_cast<int>(i)});
  }
}

void Session::fire_due() {
  for (auto timed = timed_.begin(); timed != timed_.end();) {
    if (now() < timed->at) {
      ++timed;
      continue;
    }
    const FaultPlan& fault = plan_.faults[static_cast<std::size_t>(timed->fault)];
    const auto slot = static_cast<Slot>(fault.index - 1);
    const WorkerState* victim = world_.worker(slot);
    Event event;
    event.kind = EventKind::fault_fired;
    event.stamp = now();
    event.slot = slot;
    event.a = timed->fault;
    event.text = describe(fault);
    Result<void> sent = make_error("kill worker", std::to_string(slot), ESRCH);
    if (victim != nullptr && !victim->ended) {
      sent = fault.who == Victim::tree ? signal_tree(victim->pid, fault.signal) : signal_worker(slot, fault.signal);
    }
    if (sent) {
      engine_.mark_killed(slot);
      struck_at_random_[slot] = timed->fault;
    } else {
      event.kind = EventKind::fault_missed;
      event.text += ": " + sent.error().message();
    }
    note(event);
    timed = timed_.erase(timed);
  }
}

// A kill at a random moment finds nobody stopped at a gate: its victim may have ended a moment before, by itself.
void Session::take_back_late_kill(Slot slot, const WaitStatus& status) {
  const auto struck = struck_at_random_.find(slot);
  if (struck == struck_at_random_.end() || status.kind() != WaitStatus::Kind::exited) return;
  const FaultPlan& fault = plan_.faults[static_cast<std::size_t>(struck->second)];
  if (fault.signal != SIGKILL) return;  // others can be caught, and end in an exit
  engine_.mark_spared(slot);
  Event missed;
  missed.kind = EventKind::fault_missed;
  missed.stamp = now();
  missed.slot = slot;
  missed.a = struck->second;
  missed.text = describe(fault) + ": it had ended by itself";
  struck_at_random_.erase(struck);
  note(missed);
}

// A command tells nothing on the board: its end and its output are all there is.
void Session::judge_command(Slot slot, const WaitStatus& status) {
  Event event;
  event.kind = EventKind::outcome;
  event.slot = slot;
  if (status.is_exit(0)) {
    event.a = static_cast<std::int64_t>(Outcome::served);
  } else if (status.kind() == WaitStatus::Kind::exited) {
    event.a = static_cast<std::int64_t>(Outcome::failed);
    const auto output = read_file(join(stage_.lane_dir, "output." + std::to_string(slot)));
    constexpr std::size_t limit = 4096;
    if (output) event.text = output->size() > limit ? output->substr(output->size() - limit) : *output;
    if (event.text.empty()) event.text = status.describe() + ", no output";
  } else {
    return;  // killed: the wait status says all
  }
  note(event);
}

}  // namespace jitrace
