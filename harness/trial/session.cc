#include "trial/session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "process/proc.h"
#include "trial/loop.h"

namespace jitrace {
namespace {

// Of the guard's ids: workers have their slots, those who hold a file open come after every slot that a board can have.
constexpr std::uint32_t first_holder = 65536;
constexpr std::uint32_t ids_per_trial = 2 * first_holder;

std::string control_path(const Stage& stage, Slot slot) { return join(stage.lane_dir, "control." + std::to_string(slot)); }

}  // namespace

Session::Session(const Plan& plan, const Setup& setup, const Stage& stage, Board board, Lane& lane, const Fd& interrupt)
    : plan_(plan), setup_(setup), stage_(stage), board_(std::move(board)), guard_(lane.guard), interrupt_(interrupt),
      engine_(plan_, world_, *this), id_base_(lane.next_id) {
  lane.next_id += ids_per_trial;
}

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
  // Whoever has been continued may run to its end, and its parent reap it, before the last one is reached.
  const auto send = [](const Fd& member, int what) -> Result<void> {
    const Result<void> sent = send_signal(member, what);
    return sent || sent.error().code == ESRCH ? Result<void>{} : sent;
  };
  for (const Fd& member : frozen) TRY(send(member, number));
  if (number != SIGKILL && number != SIGCONT) {
    for (const Fd& member : frozen) TRY(send(member, SIGCONT));
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
  if (how == "hold") return hold_open(path, slot);
  const auto preset = presets_.find(slot);
  return damage_path(plan_, setup_, stage_, preset == presets_.end() ? plan_.workers.front().preset : preset->second, path,
                     how);
}

Result<void> Session::hold_open(const std::string& path, Slot slot) {
  const auto preset = presets_.find(slot);
  TRY_ASSIGN(const std::string file, expand_path(plan_, setup_, stage_,
                                                 preset == presets_.end() ? plan_.workers.front().preset : preset->second, path));
  const std::string told = join(stage_.lane_dir, "held." + std::to_string(holder_ids_));
  if (::mkfifo(told.c_str(), 0600) != 0) return last_error("create fifo", told);
  TRY_ASSIGN(const Fd fifo, open_fd(told, O_RDWR | O_NONBLOCK));
  Guard::Start start;
  start.id = id_base_ + first_holder + holder_ids_++;
  start.argv = {"/bin/sh", "-c", "exec 3<\"$1\" && echo open >\"$2\" && exec sleep infinity", "sh", file, told};
  start.environment = worker_environment(stage_, 0);
  start.directory = stage_.lane_dir;
  TRY(guard_.start_process(start));
  // Whoever renames must find it open; the gate that brought us here keeps everybody where they are.
  TRY_ASSIGN(const std::vector<int> ready, wait_readable({fifo.get()}, now() + seconds(10)));
  if (ready.empty()) return make_error("hold open", file, 0, "the process that should never said that it had it open");
  return {};
}

Result<void> Session::end_holders() {
  for (std::uint32_t i = 0; i < holder_ids_; ++i) {
    // One of an earlier round has ended already.
    (void)guard_.signal(id_base_ + first_holder + i, SIGKILL);
  }
  return {};
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
  if (said.kind != GuardEvent::Kind::adopted && said.kind != GuardEvent::Kind::adopted_ended &&
      said.kind != GuardEvent::Kind::swept && said.id - id_base_ >= first_holder) {
    if (said.kind == GuardEvent::Kind::started) holders_.insert(said.pid);
    return;
  }
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
      failure_ = "start " + world_.name(slot_of(said.id)) + ": " + said.text;
      if (WorkerState* worker = world_.worker(slot_of(said.id))) worker->ended = true;
      return;
    case GuardEvent::Kind::ended: {
      event.kind = EventKind::process_ended;
      event.slot = slot_of(said.id);
      event.a = said.status ? said.status->raw() : 0;
      if (said.status) take_back_late_kill(event.slot, *said.status);
      const bool planned = engine_.killed().contains(event.slot);
      event.b = planned ? 1 : cleaning_ ? 2 : 0;
      if (const WorkerState* worker = world_.worker(event.slot); worker != nullptr && !worker->ready && !planned && !cleaning_ &&
                                                                 plan_.command.empty()) {
        const auto output = read_file(join(stage_.lane_dir, "output." + std::to_string(event.slot)));
        failure_ = world_.name(event.slot) + " ended before it was ready: " + (output ? *output : "no output");
      }
      if (!plan_.command.empty() && said.status && !planned && !cleaning_) judge_command(event.slot, *said.status);
      ends_[event.slot] = (said.status ? said.status->describe() : "unknown") + (planned ? ", as planned" : "");
      take(std::move(event));
      return;
    }
    case GuardEvent::Kind::adopted:
      event.kind = EventKind::process_adopted;
      event.b = cleaning_ ? 2 : 0;
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
  }
  // Always: only who needs an answer rings the bell, and a waiter needs none.
  take_board(Board::Torn::stop);
  return {};
}

}  // namespace jitrace
