#include "trial/session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "process/proc.h"
#include "trial/hang_proof.h"
#include "trial/loop.h"

namespace jitrace {
namespace {

// How often the proof of a hang is tried again while something that is no process of ours to wait for still lives.
constexpr Nanoseconds proof_interval = milliseconds(20);

std::string control_path(const Stage& stage, Slot slot) { return join(stage.lane_dir, "control." + std::to_string(slot)); }

}  // namespace

Session::Session(const Plan& plan, const Setup& setup, const Stage& stage, Board board, Lane& lane, const Fd& interrupt)
    : plan_(plan), setup_(setup), stage_(stage), board_(std::move(board)), guard_(lane.guard), interrupt_(interrupt),
      engine_(plan_, world_, *this), id_base_(lane.next_id), next_id_(lane.next_id) {}

// --- Control ---

void Session::release(Slot slot, Order order) {
  if (WorkerState* worker = world_.worker(slot)) worker->held = false;
  if (ToolState* tool = world_.tool(slot)) tool->held = false;
  board_.order(slot, order);
}

Result<void> Session::signal_worker(Slot slot, int number) { return guard_.signal(id_base_ + slot, number); }

Result<void> Session::signal_tool(pid_t pid, int number) {
  // It stands at a gate or waits for one that does, so it cannot end between the look-up and the signal.
  TRY_ASSIGN(const Fd pidfd, open_pidfd(pid));
  return send_signal(pidfd, number);
}

Result<void> Session::signal_tree(pid_t pid, int number) {
  std::vector<Fd> frozen;
  std::set<pid_t> seen;
  for (bool grew = true; grew;) {
    grew = false;
    std::vector<pid_t> tree = proc_descendants(pid);
    tree.insert(tree.begin(), pid);
    for (const pid_t member : tree) {
      if (!seen.insert(member).second) continue;
      auto pidfd = open_pidfd(member);
      if (!pidfd || !send_signal(*pidfd, SIGSTOP)) continue;
      frozen.push_back(std::move(*pidfd));
      grew = true;
    }
  }
  if (frozen.empty()) return make_error("kill the tree of", std::to_string(pid), ESRCH);
  if (number == SIGSTOP) return {};
  for (const Fd& member : frozen) TRY(send_signal(member, number));
  if (number != SIGKILL) {
    for (const Fd& member : frozen) TRY(send_signal(member, SIGCONT));
  }
  return {};
}

Result<void> Session::signal_group(Slot slot, int number) {
  const WorkerState* worker = world_.worker(slot);
  if (worker == nullptr || worker->ended) return make_error("signal the group of worker", std::to_string(slot), ESRCH);
  // Every worker leads a group of its own, and cannot be reaped while its end has not been read: the number is safe.
  if (::kill(-worker->pid, number) != 0) return last_error("signal the group of worker", std::to_string(slot));
  return {};
}

Result<void> Session::exit_137(Slot slot) {
  const std::string path = control_path(stage_, slot);
  TRY_ASSIGN(const Fd control, open_fd(path, O_WRONLY | O_NONBLOCK));
  return write_all(control, "x", path);
}

void Session::arm(Point point) { board_.arm(point); }
void Session::disarm(Point point) { board_.disarm(point); }

void Session::note(Event event) {
  if (event.stamp == 0) event.stamp = now();
  if (event.slot != driver_slot && event.pid == 0) {
    if (const WorkerState* worker = world_.worker(event.slot)) event.pid = static_cast<std::uint32_t>(worker->pid);
  }
  events_.push_back(std::move(event));
}

Result<void> Session::damage_cache(const std::string& path, const std::string& how, Slot slot) {
  const auto preset = presets_.find(slot);
  return damage_path(plan_, setup_, stage_, preset == presets_.end() ? plan_.workers.front().preset : preset->second, path,
                     how);
}

// --- Taking in what happened ---

std::string Session::resolve(const std::string& path) const {
  return path.starts_with('/') ? path : join(stage_.cache_dir, path);
}

Slot Session::slot_of(std::uint32_t id) const { return static_cast<Slot>(id - id_base_); }

void Session::take(Event event) {
  if (event.kind == EventKind::reached && event.point == Point::lock_held) owners_[event.text] = event.slot;
  if (event.kind == EventKind::waiting && event.a != static_cast<std::int64_t>(ConditionKind::child)) {
    if (const auto stat = proc_stat(static_cast<pid_t>(event.pid))) cpu_at_wait_[event.slot] = stat->cpu_ticks;
  }
  if (event.kind == EventKind::tool_begin && event.a == static_cast<std::int64_t>(ToolRole::daemon)) {
    daemons_.insert(static_cast<pid_t>(event.pid));
  }
  world_.apply(event);
  engine_.on_event(event);
  events_.push_back(std::move(event));
}

void Session::take_board(Board::Torn torn) {
  board_.clear_bell();
  for (Event& event : board_.read(&next_record_, torn)) take(std::move(event));
}

void Session::guard_said(const GuardEvent& said) {
  Event event;
  event.stamp = said.stamp;
  event.pid = static_cast<std::uint32_t>(std::max<pid_t>(said.pid, 0));
  event.text = said.text;
  switch (said.kind) {
    case GuardEvent::Kind::started:
      event.kind = EventKind::process_started;
      event.slot = slot_of(said.id);
      take(std::move(event));
      return;
    case GuardEvent::Kind::not_started:
      failure_ = "start worker " + std::to_string(slot_of(said.id)) + ": " + said.text;
      if (WorkerState* worker = world_.worker(slot_of(said.id))) worker->ended = true;
      return;
    case GuardEvent::Kind::ended: {
      event.kind = EventKind::process_ended;
      event.slot = slot_of(said.id);
      event.a = said.status ? said.status->raw() : 0;
      const bool planned = engine_.killed().contains(event.slot);
      event.b = planned ? 1 : cleaning_ ? 2 : 0;
      if (!plan_.command.empty() && said.status && !planned && !cleaning_) judge_command(event.slot, *said.status);
      ends_[event.slot] = (said.status ? said.status->describe() : "unknown") + (planned ? ", as planned" : "");
      take(std::move(event));
      return;
    }
    case GuardEvent::Kind::adopted:
      event.kind = EventKind::process_adopted;
      take(std::move(event));
      return;
    case GuardEvent::Kind::adopted_ended:
      event.kind = EventKind::process_ended;
      event.a = said.status ? said.status->raw() : 0;
      event.b = cleaning_ ? 2 : 0;
      take(std::move(event));
      return;
    case GuardEvent::Kind::swept:
      swept_ = true;
      return;
  }
}

Result<void> Session::take_guard() {
  TRY_ASSIGN(const std::vector<GuardEvent> said, guard_.receive());
  // What a process wrote before its end comes before its end.
  take_board(Board::Torn::stop);
  for (const GuardEvent& event : said) guard_said(event);
  return {};
}

Result<void> Session::pump(Nanoseconds deadline) {
  TRY_ASSIGN(const std::vector<int> ready,
             wait_readable({guard_.socket().get(), board_.bell().get(), interrupt_.get()}, deadline));
  for (const int descriptor : ready) {
    if (descriptor == interrupt_.get()) interrupted_ = true;
    else if (descriptor == guard_.socket().get()) TRY(take_guard());
    else take_board(Board::Torn::stop);
  }
  return {};
}

// --- Free trials ---

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
      if (const std::size_t at = argument.find(name); at != std::string::npos) argument.replace(at, name.size(), value);
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
    timed_.push_back({start + setup_.typical / 1'000'000 * part, static_cast<int>(i)});
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
      engine_.mark_killed(slot);
      sent = fault.who == Victim::tree ? signal_tree(victim->pid, fault.signal) : signal_worker(slot, fault.signal);
    }
    if (!sent) {
      event.kind = EventKind::fault_missed;
      event.text += ": " + sent.error().message();
    }
    note(event);
    timed = timed_.erase(timed);
  }
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

// --- Rounds ---

Result<void> Session::start_workers(int round, const std::vector<WorkerPlan>& workers) {
  int index = 0;
  for (const WorkerPlan& plan : workers) {
    const Slot slot = next_slot_++;
    next_id_ = id_base_ + next_slot_;
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
    return worker.round != round || worker.ready || worker.ended || (!plan_.command.empty() && worker.started);
  });
}

// Somebody other than the workers and the daemon lives below the guard.
bool Session::tools_left(const std::vector<Descendant>& descendants) const {
  return std::any_of(descendants.begin(), descendants.end(), [this](const Descendant& d) {
    if (d.state == 'Z' || daemons_.contains(d.pid) || daemons_.contains(d.parent)) return false;
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

bool Session::all_waiting() const {
  bool any = false;
  for (const auto& [slot, worker] : world_.workers()) {
    if (worker.ended || !worker.started) continue;
    any = true;
    if (worker.stopped && !worker.continue_planned) continue;
    if (worker.held || !worker.wait || worker.wait->bound != 0) return false;
  }
  return any;
}

Result<Session::RoundEnd> Session::run_round(int round, const std::vector<WorkerPlan>& workers) {
  // The proof of a hang, the release of what is held, and the drain of orphans all hang on processes that are not our
  // children; they are looked at whenever something was heard, and at this interval while nothing is.
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
    const bool quiet = all_waiting();
    const bool look = over || quiet || engine_.waits_for_orphans();
    Nanoseconds wake = look ? now() + proof_interval : std::min(deadline, now() + milliseconds(200));
    for (const Timed& timed : timed_) wake = std::min(wake, timed.at);
    TRY(pump(wake));
    fire_due();
    if (interrupted_) return RoundEnd::interrupted;
    const std::vector<Descendant> descendants =
        look ? guard_.descendants() : std::vector<Descendant>{};
    if (engine_.waits_for_orphans() && look && !orphans_left(descendants)) {
      // The end of the victim itself must have been heard, or its children are not yet ours.
      const bool heard = std::all_of(engine_.killed().begin(), engine_.killed().end(), [this](Slot slot) {
        const WorkerState* victim = world_.worker(slot);
        return victim == nullptr || victim->ended;
      });
      if (heard) engine_.on_orphans_gone();
    }
    if (world_.all_ended(round)) {
      if (!look) continue;
      if (!tools_left(descendants)) return RoundEnd::all_ended;
      if (engine_.release_stuck()) continue;
    } else if (quiet && all_waiting()) {
      if (look_for_hang(round)) return RoundEnd::hang;
      if (engine_.release_stuck()) continue;
    }
    if (now() >= deadline) {
      dump(round, last_block_);
      return RoundEnd::stalled;
    }
  }
}

bool Session::look_for_hang(int round) {
  HangFacts facts;
  facts.descendants = guard_.descendants();
  facts.locks = proc_locks();
  facts.exists = [this](const std::string& path) { return exists(resolve(path)); };
  facts.owners = owners_;
  facts.ends = ends_;
  const HangProof proof = prove_hang(world_, facts);
  last_block_ = proof.blocked_by;
  if (!proof.proved) return false;
  // Whoever moved while we looked has written it down.
  const std::size_t known = events_.size();
  take_board(Board::Torn::stop);
  if (events_.size() != known) return false;
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
  return true;
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
    over.b = end == RoundEnd::all_ended ? 0 : 1;
    note(over);
    const bool last = i + 1 == rounds.size();
    if (last && end == RoundEnd::all_ended && engine_.wants_reload() && rounds.size() == i + 1 &&
        rounds.size() == static_cast<std::size_t>(plan_.rounds)) {
      rounds.push_back({plan_.workers.front()});
      rounds.back().front().action = "get";
    }
    if (end == RoundEnd::hang || end == RoundEnd::stalled || end == RoundEnd::interrupted) TRY(clean_up());
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
