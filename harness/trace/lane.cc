#include "trace/lane.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "trace/lane_parts.h"

namespace jitrace {
namespace {

using Halt = Supervisor::Halt;

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

}  // namespace

TracedLane::TracedLane(TracePlan plan, Places places) : plan_(std::move(plan)), places_(std::move(places)) {
  for (const std::string& step : plan_.steps) {
    auto& of_role = steps_due_[step.substr(0, step.find(": "))];
    if (of_role.empty() || of_role.back() != step) of_role.push_back(step);
  }
}

TracedLane::~TracedLane() = default;

std::string TracedLane::temporary() const { return join(plan_.around.empty() ? places_.scratch : parent_of(plan_.around), "tmp"); }

void TracedLane::note(Event event) {
  event.stamp = now() - began_;
  event.key = static_cast<std::uint16_t>(round_);
  history_.events.push_back(std::move(event));
}

std::string TracedLane::label(int process) const {
  const TracedProcess& of = supervisor_->processes()[static_cast<std::size_t>(process)];
  return of.role + " (pid " + std::to_string(of.pid) + ")";
}

Result<History> TracedLane::run() {
  began_ = now();
  history_.plan = plan_.text();
  history_.cache = plan_.cache;
  TRY(set_up());
  note(event_of(EventKind::trial_begin));
  TRY(carry_out());
  if (failed_) return *failed_;
  const std::string inside = plan_.around.empty() ? "" : base_of(plan_.cache) + "/";
  for (const std::string& path : list_tree(own())) {
    if (path == inside) continue;
    history_.snapshot.push_back(entry_of(path.starts_with(inside) ? path.substr(inside.size()) : "../" + path, join(own(), path)));
  }
  list_beside();
  TRY(clear_beside());
  note(event_of(EventKind::settled));
  return std::move(history_);
}

Result<void> TracedLane::set_up() {
  if (!places_.backing.empty()) {
    if (::unshare(CLONE_NEWNS) != 0) return last_error("make a mount namespace for", plan_.cache);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return last_error("make mounts private below", "/");
    // Over what they lie in: one mount, or no file could be renamed from the one to the other.
    const std::string over = plan_.around.empty() ? own() : parent_of(own());
    if (::mount(places_.backing.c_str(), over.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return last_error("mount the lane's directory on", over);
    }
  }
  TRY(make_dirs(own()));
  if (!plan_.restore.empty()) TRY(copy_contents(plan_.restore, own()));
  TRY(make_dirs(plan_.cache));
  TRY(make_dirs(temporary()));
  TRY(set_up_beside());
  TRY_ASSIGN(Scope scope, Scope::create(plan_.cache, paths_beside(), plan_.around));
  scope.set_temporary(temporary());
  Supervisor::Options options;
  options.starter = places_.starter;
  // How a compiler takes an error, a write cut short or a signal that it can catch, no tape knows.
  const bool plain = plan_.work != TraceWork::answer && plan_.cut == Cut::none && plan_.signal == SIGKILL;
  if (!plan_.tapes.empty() && plain) {
    TapeStore store(plan_.tapes, join(parent_of(places_.starter), "tape"));
    tapes_.emplace(std::move(store), plan_.work == TraceWork::record ? Tapes::Use::learn : Tapes::Use::learn_and_play);
    options.tapes = &*tapes_;
  }
  options.polls = plan_.polls;
  options.forking_polls = std::max<std::uint64_t>(plan_.polls / 8, 1);
  options.virtual_bound = plan_.virtual_bound;
  options.limit = plan_.limit;
  options.elsewhere = plan_.elsewhere;
  options.journal = journal();
  if (plan_.work == TraceWork::record) options.time = plan_.polls > 0 ? Supervisor::Options::Time::moved : Supervisor::Options::Time::real;
  supervisor_ = std::make_unique<Supervisor>(options, std::move(scope), *this);
  return {};
}

Result<TracedLane::WorkerCommand> TracedLane::command_of(int worker) const {
  const std::string letter(1, static_cast<char>('A' + worker));
  const std::vector<std::pair<std::string, std::string>> values{{"{cache}", plan_.cache}, {"{worker}", std::to_string(worker)},
                                                                {"{key}", "0"}, {"{out}", places_.scratch},
                                                                {"{libexec}", parent_of(places_.starter)}};
  Command command;
  for (const std::string& word : plan_.command) command.argv.push_back(replaced(word, values));
  command.directory = plan_.directory;
  // A program that is built with AddressSanitizer looks for leaks at its end by ptrace, which is ours: it would fail.
  const char* sanitizer = ::getenv("ASAN_OPTIONS");
  const std::string no_leak_check = std::string(sanitizer == nullptr ? "" : std::string(sanitizer) + ":") + "detect_leaks=0";
  command.environment = environment_with({"TMPDIR=" + temporary(), "ASAN_OPTIONS=" + no_leak_check});
  TRY_ASSIGN(Fd nothing, open_fd("/dev/null", O_RDONLY));
  TRY_ASSIGN(Fd out, open_fd(join(places_.scratch, "output-" + letter), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND));
  command.in = nothing.get();
  command.out = out.get();
  command.err = out.get();
  command.group = Command::Group::own_session;  // no terminal, and ^C is for us
  return WorkerCommand{std::move(command), std::move(nothing), std::move(out)};
}

Result<int> TracedLane::start_worker() {
  const int worker = workers_++;
  TRY_ASSIGN(WorkerCommand ready, command_of(worker));
  const std::string letter(1, static_cast<char>('A' + worker));
  if (!plan_.zygote.empty()) return supervisor_->start_forked(plan_.zygote, ready.command, worker, letter);
  return supervisor_->start(std::move(ready.command), worker, letter);
}

// The last line that it printed.
std::string TracedLane::last_words(int worker) const {
  const auto text = read_file(join(places_.scratch, std::string("output-") + static_cast<char>('A' + worker)));
  if (!text) return {};
  std::string last;
  for (const std::string& line : split(*text, '\n')) {
    if (!trimmed(line).empty()) last = trimmed(line);
  }
  return last.substr(0, 400);
}

Result<void> TracedLane::carry_out() {
  switch (plan_.work) {
    case TraceWork::record: return first_round();
    case TraceWork::kill: return killed_round();
    case TraceWork::recover: return recovery();
    case TraceWork::count: return counted_round();
    case TraceWork::answer: return answered_round();
  }
  return {};
}

Result<Halt> TracedLane::until_gone(int worker) {
  return supervisor_->run([this, worker] { return failed_ || supervisor_->living(worker) == 0; });
}

// Everybody that still lives is ended.
Result<void> TracedLane::drain() {
  for (int worker = 0; worker < workers_; ++worker) supervisor_->kill_worker(worker);
  TRY(supervisor_->run([] { return false; }));
  return {};
}

Result<void> TracedLane::first_round() {
  round_ = 1;
  note_round();
  TRY_ASSIGN(const int top, start_worker());
  TRY_ASSIGN(const Halt halt, until_gone(0));
  TRY(conclude(halt, top));
  supervisor_->kill_worker(0);
  TRY(until_gone(0));
  for (int i = 0; i < plan_.fresh; ++i) TRY(fresh());
  TRY(drain());
  if (plan_.elsewhere == Noticing::yes) note_elsewhere();
  return {};
}

Result<void> TracedLane::recovery() {
  if (round_ == 0) {
    // The killed one was another lane's: its letter stays its own.
    round_ = 1;
    workers_ = 1;
  }
  TRY_ASSIGN(const Outcome second, fresh());
  return recovery_after(second);
}

// The third round, where the second says not all.
Result<void> TracedLane::recovery_after(Outcome second) {
  // One that hung and changed nothing left the cache as it met it: the next would meet, and do, the same.
  const bool same = second == Outcome::hung && std::none_of(history_.events.begin(), history_.events.end(), [this](const Event& event) {
    return event.kind == EventKind::call && event.key == round_ && event.b != 0;
  });
  if (second != Outcome::served && !same) TRY(fresh());
  return drain();
}

Result<Outcome> TracedLane::fresh() {
  ++round_;
  note_round();
  const int worker = workers_;
  TRY_ASSIGN(const int top, start_worker());
  TRY_ASSIGN(const Halt halt, until_gone(worker));
  TRY(conclude(halt, top));
  supervisor_->kill_worker(worker);
  TRY(until_gone(worker));
  return last_outcome();
}

Outcome TracedLane::last_outcome() const {
  for (auto event = history_.events.rbegin(); event != history_.events.rend(); ++event) {
    if (event->kind == EventKind::outcome) return static_cast<Outcome>(event->a);
  }
  return Outcome::none;
}

void TracedLane::note_round() {
  Event event = event_of(EventKind::round_begin);
  event.a = round_;
  note(std::move(event));
}

void TracedLane::note_outcome(int top, Outcome outcome, std::string text) {
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(top)];
  Event event = event_of(EventKind::outcome, process, std::move(text));
  event.a = static_cast<std::int64_t>(outcome);
  note(std::move(event));
  history_.events.back().key = static_cast<std::uint16_t>(process.worker + 1);  // the builder may end in a later round
}

// How the round's process ended.
Result<void> TracedLane::conclude(Halt halt, int top) {
  if (failed_) return *failed_;
  const TracedProcess& process = supervisor_->processes()[static_cast<std::size_t>(top)];
  if (process.end) {
    const WaitStatus status = *process.end;
    if (status.is_exit(0)) note_outcome(top, Outcome::served, last_words(process.worker));
    else if (status.kind() == WaitStatus::Kind::killed) note_outcome(top, Outcome::crashed, status.describe());
    else note_outcome(top, Outcome::failed, status.describe() + (last_words(process.worker).empty() ? "" : ": " + last_words(process.worker)));
    if (supervisor_->living(process.worker) > 0) {
      for (const TracedProcess& left : supervisor_->processes()) {
        if (left.worker != process.worker || left.end) continue;
        Event event = event_of(EventKind::process_adopted, left, left.role);
        event.b = 2;
        note(std::move(event));
      }
    }
    return {};
  }
  switch (halt) {
    case Halt::stuck:
      note_stuck(top);
      return {};
    case Halt::too_many:
      note_outcome(top, Outcome::stalled, "it starts processes without end");
      return {};
    case Halt::limit:
      note_outcome(top, Outcome::stalled, "it still ran when the limit of real time had passed");
      return {};
    case Halt::done:
    case Halt::all_ended:
    case Halt::held:
      note_outcome(top, Outcome::stalled, "it was left standing");
      return {};
  }
  return {};
}

}  // namespace jitrace
