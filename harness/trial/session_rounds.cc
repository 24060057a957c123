// Rounds: start, run until all have ended or nobody can, prove or dump, clean up.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "process/proc.h"
#include "strategy/preset.h"
#include "trial/hang_proof.h"
#include "trial/loop.h"
#include "trial/session.h"

namespace jitrace {
namespace {

// How often the board is read, and the proof of a hang tried, while nobody rings: waiters write down that they wait and
// make no noise, and orphans are no children of ours.
constexpr Nanoseconds look_interval = milliseconds(20);

std::set<pid_t> pids_of(const std::vector<Descendant>& descendants) {
  std::set<pid_t> pids;
  for (const Descendant& descendant : descendants) pids.insert(descendant.pid);
  return pids;
}

bool reopens(const std::string& preset) {
  const Preset* row = find_preset(preset);
  return row != nullptr && std::any_of(row->locks.begin(), row->locks.end(), [](const LockChoice& lock) { return lock.reopens; });
}

}  // namespace

Result<void> Session::start_workers(int round, const std::vector<WorkerPlan>& workers) {
  int index = 0;
  for (const WorkerPlan& plan : workers) {
    const Slot slot = next_slot_++;
    world_.add_worker(slot, round, plan.client);
    presets_[slot] = plan.preset;
    const std::string spec_path = join(stage_.lane_dir, "spec." + std::to_string(slot));
    if (plan_.command.empty()) {
      const WorkerSpec spec = worker_spec(plan_, setup_, stage_, slot, index, round, plan);
      TRY(write_file(spec_path, spec.text()));
      TRY(make_dirs(spec.scratch));
      if (::mkfifo(spec.control.c_str(), 0600) != 0) return last_error("create fifo", spec.control);
    }
    Guard::Start start;
    start.id = id_base_ + slot;
    start.argv = arguments(slot, index++, spec_path);
    start.environment = worker_environment(stage_, plan.client);
    start.directory = stage_.lane_dir;
    start.output = join(stage_.lane_dir, "output." + std::to_string(slot));
    TRY(guard_.start_process(start));
  }
  return {};
}

bool Session::round_ready(int round) const {
  return std::all_of(world_.workers().begin(), world_.workers().end(), [this, round](const auto& entry) {
    const WorkerState& worker = entry.second;
    return worker.round != round || worker.ended || (worker.started && (worker.ready || !plan_.command.empty()));
  });
}

// Somebody other than the workers and the daemon lives below the guard.
bool Session::tools_left(const std::vector<Descendant>& descendants) const {
  return std::any_of(descendants.begin(), descendants.end(), [this](const Descendant& d) {
    if (d.state == 'Z' || daemons_.contains(d.pid) || daemons_.contains(d.parent) || holders_.contains(d.pid)) return false;
    return std::none_of(world_.workers().begin(), world_.workers().end(),
                        [&d](const auto& entry) { return entry.second.pid == d.pid && !entry.second.ended; });
  });
}

// Likewise, but only those that the guard inherited, and what is below them.
bool Session::orphans_left(const std::vector<Descendant>& descendants) const {
  std::vector<Descendant> adopted;
  for (const Descendant& d : descendants) {
    if (d.parent == guard_.pid()) adopted.push_back(d);
  }
  return tools_left(adopted);
}

bool Session::orphans_stand(const std::vector<Descendant>& descendants) const {
  std::vector<Descendant> tools;
  for (const Descendant& d : descendants) {
    if (!daemons_.contains(d.pid) && !daemons_.contains(d.parent) && !holders_.contains(d.pid)) tools.push_back(d);
  }
  return standing_of_orphans(world_, tools) == Standing::nobody;
}

// Cheap, so that the costly look at all processes is taken only when it may say something: a builder that waits for its
// compiler is no reason to look, unless the plan can stop that compiler.
bool Session::all_waiting() const {
  const bool stops = std::any_of(plan_.faults.begin(), plan_.faults.end(),
                                 [](const FaultPlan& fault) { return fault.kind == FaultKind::stop; });
  bool any = false;
  for (const auto& [slot, worker] : world_.workers()) {
    if (worker.ended || !worker.started) continue;
    // Dying: what it waited for counts no more, and its locks are about to change hands.
    if (engine_.killed().contains(slot)) return false;
    any = true;
    if (worker.stopped) continue;
    if (worker.held || !worker.wait || worker.wait->bound != 0) return false;
    if (worker.wait->kind == ConditionKind::child && !stops) return false;
  }
  return any;
}

Result<Session::RoundEnd> Session::run_round(int round, const std::vector<WorkerPlan>& workers) {
  TRY(start_workers(round, workers));
  const Nanoseconds start_deadline = now() + seconds(60);
  while (!round_ready(round) && !interrupted_) {
    TRY(pump(start_deadline));
    if (now() >= start_deadline) return plain_error("start the workers", "not all were ready after 60 s");
  }
  if (interrupted_) return RoundEnd::interrupted;
  Event begin;
  begin.kind = EventKind::round_begin;
  begin.a = round;
  note(begin);
  board_.start(static_cast<std::uint32_t>(round));

  schedule_random(round, now());
  const Nanoseconds deadline = now() + plan_.watchdog;
  for (;;) {
    const bool over = world_.all_ended(round);
    if (over || engine_.waits_for_orphans() || all_waiting()) {
      TRY_ASSIGN(const Look look, look_at_round(round, over));
      if (look.end) return *look.end;
      if (look.released) continue;
    }
    if (now() >= deadline) {
      dump(round, last_block_);
      return RoundEnd::stalled;
    }
    Nanoseconds wake = std::min(deadline, now() + look_interval);
    for (const Timed& timed : timed_) wake = std::min(wake, timed.at);
    TRY(pump(wake));
    fire_due();
    if (interrupted_) return RoundEnd::interrupted;
  }
}

Result<Session::Look> Session::look_at_round(int round, bool over) {
  const std::vector<Descendant> descendants = guard_.descendants();
  if (engine_.waits_for_orphans() && !orphans_left(descendants)) {
    // The end of the victim itself must have been heard, or its children are not yet ours.
    const bool heard = std::all_of(engine_.killed().begin(), engine_.killed().end(), [this](Slot slot) {
      const WorkerState* victim = world_.worker(slot);
      return victim == nullptr || victim->ended;
    });
    if (heard) engine_.on_orphans_gone();
  }
  if (over) {
    if (!tools_left(descendants)) {
      TRY(end_holders());
      return Look{RoundEnd::all_ended, false};
    }
    if (engine_.release_stuck()) return Look{{}, true};
    // Only those are left whom the plan stopped for ever.
    if (orphans_stand(descendants)) return Look{RoundEnd::over, false};
  } else if (all_waiting()) {
    const HangProof proof = look_for_hang(round);
    if (proof.proved()) return Look{RoundEnd::hang, false};
    // Only those are left whom the plan stopped for ever: there is nothing more to wait for.
    if (proof.standing == Standing::nobody) return Look{RoundEnd::over, false};
    if (proof.standing == Standing::on_plan && engine_.release_stuck()) return Look{{}, true};
  }
  return Look{};
}

HangProof Session::look_for_hang(int round) {
  HangFacts facts;
  std::vector<Descendant> descendants = guard_.descendants();
  const std::set<pid_t> listed = pids_of(descendants);
  for (Descendant& descendant : descendants) {
    // A holder reads a file and does nothing else: it can release nobody.
    if (!holders_.contains(descendant.pid)) facts.descendants.push_back(std::move(descendant));
  }
  facts.locks = proc_locks();
  facts.exists = [this](const std::string& path) { return exists(resolve(path)); };
  facts.moved_on = [this](const WorkerState& worker) {
    const auto preset = presets_.find(worker.slot);
    if (preset == presets_.end() || !reopens(preset->second)) return false;
    struct stat s {};
    return ::stat(resolve(worker.wait->path).c_str(), &s) != 0 || s.st_ino != worker.wait->target;
  };
  facts.owners = owners_;
  facts.ends = ends_;
  HangProof proof = prove_hang(world_, facts);
  last_block_ = proof.blocked_by;
  if (proof.standing == Standing::moving) return proof;
  // The conditions were looked at first, and now who sleeps: a waiter whose last look came after ours and found the way
  // free is awake until it has written that down, and one that had found it free before has written it by now.
  for (const auto& [slot, worker] : world_.workers()) {
    if (worker.ended || !worker.started || worker.stopped) continue;
    const auto stat = proc_stat(worker.pid);
    if (stat && stat->state == 'S') continue;
    last_block_ = world_.name(slot) + " is awake";
    return {};
  }
  const std::size_t known = events_.size();
  take_board(Board::Torn::stop);
  if (events_.size() != known) return {};
  // A list of children that is read while one of them ends may lack another: nobody is missing where two agree.
  if (pids_of(guard_.descendants()) != listed) {
    last_block_ = "processes came or went during the look";
    return {};
  }
  const Nanoseconds seen = now();
  for (const HungWorker& hung : proof.hung) {
    const WorkerState& worker = *world_.worker(hung.slot);
    std::string chain = hung.chain;
    if (const auto stat = proc_stat(worker.pid); stat && worker.wait) {
      const std::uint64_t ticks = stat->cpu_ticks - std::min(stat->cpu_ticks, cpu_at_wait_[hung.slot]);
      const auto output = file_size(join(stage_.lane_dir, "output." + std::to_string(hung.slot)));
      chain += ". While it waited (" + std::to_string((seen - worker.wait->since) / milliseconds(1)) + " ms so far): " +
               std::to_string(ticks * 1000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK))) + " ms of CPU, " +
               std::to_string(output ? *output : 0) + " bytes of output";
    }
    for (const HeldLock& lock : facts.locks) {
      if (worker.wait && lock.inode == worker.wait->target) chain += ". /proc/locks: " + lock.line;
    }
    Event event;
    event.kind = EventKind::hang_proved;
    event.slot = hung.slot;
    event.a = static_cast<std::int64_t>(hung.cause);
    event.b = round;
    event.text = chain;
    note(event);
  }
  return proof;
}

void Session::dump(int round, const std::string& blocked_by) {
  Event event;
  event.kind = EventKind::watchdog;
  event.a = round;
  event.text = "no end and no proof of a hang after " + std::to_string(plan_.watchdog / seconds(1)) + " s";
  if (!blocked_by.empty()) event.text += "; the proof was blocked: " + blocked_by;
  for (const Descendant& d : guard_.descendants()) {
    event.text += "\n" + std::to_string(d.pid) + " (parent " + std::to_string(d.parent) + ") " + d.state + " in " +
                  d.wait_channel + ", " + std::to_string(d.cpu_ticks) + " ticks: " + d.arguments;
    for (const std::string& descriptor : proc_descriptors(d.pid)) {
      if (descriptor.find(stage_.cache_dir) != std::string::npos) event.text += "\n    " + descriptor;
    }
  }
  for (const HeldLock& lock : proc_locks()) event.text += "\nlock " + lock.line;
  note(event);
}

Result<void> Session::clean_up() {
  cleaning_ = true;
  swept_ = false;
  TRY(guard_.sweep());
  while (!swept_) {
    TRY_ASSIGN(const std::vector<int> ready, wait_readable({guard_.socket().get()}, 0));
    if (!ready.empty()) TRY(take_guard());
  }
  cleaning_ = false;
  take_board(Board::Torn::skip);
  for (auto& [slot, worker] : world_.workers()) worker.ended = true;
  world_.tools().clear();
  daemons_.clear();
  return {};
}

Result<bool> Session::run() {
  engine_.arm();
  Event begin;
  begin.kind = EventKind::trial_begin;
  begin.text = stage_.token;
  note(begin);
  std::vector<std::vector<WorkerPlan>> rounds(static_cast<std::size_t>(plan_.rounds), plan_.workers);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const int round = static_cast<int>(i) + 1;
    TRY_ASSIGN(const RoundEnd end, run_round(round, rounds[i]));
    Event over;
    over.kind = EventKind::round_end;
    over.a = round;
    over.b = end == RoundEnd::hang || end == RoundEnd::stalled ? 1 : 0;
    note(over);
    const bool last = i + 1 == rounds.size();
    if (last && end == RoundEnd::all_ended && engine_.wants_reload() && round == plan_.rounds) {
      rounds.push_back({plan_.workers.front()});
      rounds.back().front().action = "get";
    }
    if (end != RoundEnd::all_ended) TRY(clean_up());
    if (end == RoundEnd::interrupted) return false;
    if (end == RoundEnd::stalled) break;
  }
  engine_.finish();
  TRY(clean_up());
  Event settled;
  settled.kind = EventKind::settled;
  note(settled);
  if (board_.overflowed()) failure_ = "the event log is full; fewer workers, keys or gets fit";
  return true;
}

std::vector<Event> Session::take_events() {
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.stamp < b.stamp; });
  return std::move(events_);
}

}  // namespace jitrace
