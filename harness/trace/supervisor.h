#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/trace_plan.h"
#include "process/proc.h"
#include "process/process.h"
#include "process/reaper.h"
#include "trace/blocked.h"
#include "trace/director.h"
#include "trace/elsewhere.h"
#include "trace/registers.h"
#include "trace/scope.h"
#include "trace/shorten.h"
#include "trace/spinning.h"
#include "trace/tapes.h"
#include "trace/timer_descriptors.h"
#include "trace/timers.h"
#include "trace/virtual_clock.h"

namespace jitrace {

// Runs process trees under seccomp and ptrace: every process below it stops before the calls of the table, the Director
// rules on those at the cache, and everything else goes on untouched. Blocking locks are tried without blocking and
// their callers parked; sleeps pass in moved time once nobody else can move. One supervisor a process: it waits for
// every child. When the process that holds it ends, so does everything below it (PTRACE_O_EXITKILL).
class Supervisor {
 public:
  struct Options {
    std::string starter;                   // libexec/jitrace/traced
    Tapes* tapes = nullptr;                // borrowed; none: every compiler is the real one
    enum class Time { real, moved } time = Time::moved;
    Noticing elsewhere = Noticing::no;     // whether all that is made outside of the cache is looked at, or what belongs to it
    std::string journal;                   // of that (trace/elsewhere.h)
    std::uint64_t polls = 1000;            // a hang: so many wake-ups without a change …
    // One without a pause makes fifty times as many calls before its looks are counted as wake-ups.
    std::uint64_t forking_polls =
        200;  // … of a poller that starts processes (a shell's `sleep`): a hundred times dearer
    Nanoseconds virtual_bound = seconds(2 * 3600);  // … and so much time passed
    Nanoseconds limit = seconds(600);      // of real time for one run(); then it is given up
    std::size_t most_processes = 20'000;   // a subject that forks more is stopped
    Nanoseconds outside_patience = seconds(10);   // of real time for a wait that somebody outside of the tree may end,
    Nanoseconds outside_limit = seconds(60);     // before time passes; and, if nothing is due, before it is given up
  };
  Supervisor(Options options, Scope scope, Director& director);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Starts `command` as the first process of a worker; its role is `letter`. Returns its index.
  Result<int> start(Command command, int worker, const std::string& letter);
  // The same, forked by the zygote with this socket instead of executed.
  Result<int> start_forked(const std::string& zygote, const Command& command, int worker, const std::string& letter);

  enum class Halt {
    done,       // what `done` asked for
    all_ended,
    stuck,      // nobody can move, or nothing changed for the bounds: see stuck()
    held,       // nobody can move but for those that are held
    limit,
    too_many,   // processes
  };
  // Until `done` says so (asked after each stop), or one of the others.
  Result<Halt> run(const std::function<bool()>& done);

  void kill_process(int index);
  void kill_worker(int worker);            // its whole tree, and whatever it starts from now on
  // Once, and may be caught: comes as soon as the call is over that a thread is in.
  void signal_process(int index, int signal);
  void signal_worker(int worker, int signal);  // each process that it has now
  // Asks the director again about each call that is held; what it says now is done.
  Result<void> release();
  bool anybody_held() const;
  // Whether a process that is none of ours holds a lock on `path` or a file below it.
  bool locked_from_outside(const std::string& path) const;
  // Every thread stands still while `work` is done.
  Result<void> freeze(const std::function<Result<void>()>& work);

  const std::vector<TracedProcess>& processes() const { return processes_; }
  std::size_t living(int worker) const;    // processes of that worker

  // Of a run that ended `stuck`.
  struct Waiting {
    int process = 0;
    enum class How { lock, poll, sleep, child, thread, pipe, events, stopped, outside } how = How::poll;
    std::string what;                      // "flock lock LOCK_EX", "stat lock", "waits for a child"
    std::string path;                      // of a lock, or of what it looks at
    std::vector<pid_t> owners;             // of a lock: who has it open or locked
  };
  struct Stuck {
    std::vector<Waiting> waiting;
    std::uint64_t polls = 0;
    Nanoseconds passed = 0;                // since the last change
    bool outright = false;                 // nobody has a due timer: no bound was needed
    bool outside = false;  // somebody waits for what is not in the tree, or a lock is held there: no proof
  };
  const Stuck& stuck() const { return stuck_; }
  Nanoseconds passed() const { return clock_.offset(); }
  // What the tree made outside of the cache and others may meet, by its names for the director.
  std::vector<std::string> found_elsewhere() const;
  bool has_made(const std::string& path) const { return elsewhere_.has_made(path); }

 private:
  struct Thread {
    Thread() = default;
    Thread(pid_t id_, int process_) : id(id_), process(process_) {}
    pid_t id = -1;
    int process = 0;
    // running: released, in user code or in the kernel. in_call: released, stops again after the call.
    enum class State { running, in_call, parked_lock, parked_sleep, held, listening } state = State::running;
    TracedCall call;
    Ruling ruling;
    Shortened shortened;
    bool reported = false;     // the director has ruled on this call already (it is tried again)
    bool watched = true;       // in_call: the director is told
    bool told = false;         // that it is parked
    bool stood = false;        // parked for a lock while time was passed
    Vfork vfork = Vfork::no;   // its last stop told of one
    Registers before;          // as it stood before the call
    Nanoseconds due = 0;
    std::string known_call, known_key;  // of a sleep in the kernel: how it was seen, and
    Nanoseconds known_due = 0; // when it ends
    bool broken_into = false;  // since then: it goes on, and ends no later for it
    std::optional<Elsewhere::Step> elsewhere;  // what the call does outside of the cache, if it succeeds
  };

  // supervisor.cc
  static Result<void> seize(pid_t pid, const std::string& what);
  Result<std::optional<TraceeStop>> next_stop(Blocking blocking);
  Result<void> handle(const TraceeStop& stop);
  Result<void> handle_stop(const TraceeStop& stop);
  Result<void> resume(Thread& thread, int signal = 0);
  Result<void> stopped(Thread& thread, int signal);
  Thread* find(pid_t id);
  const TracedProcess& process_of(const Thread& thread) const {
    return processes_[static_cast<std::size_t>(thread.process)];
  }
  // supervisor_tree.cc
  TracedProcess& add_process(pid_t pid, int parent, int worker, std::string role);
  Result<void> adopt(int parent, pid_t child);
  Result<void> first_stop(const TraceeStop& stop);  // of a child
  Result<void> adopt_orphans(const TracedProcess& parent);
  Result<void> replaced(Thread& thread);            // exec
  Result<void> thread_ended(const TraceeStop& stop);
  // supervisor_call.cc
  Result<void> before_call(Thread& thread);
  Result<void> after_call(Thread& thread);
  Result<void> before_lock(Thread& thread, Registers regs);
  Result<void> before_sleep(Thread& thread, const Registers& regs, Call call);
  Result<void> before_timer(Thread& thread, Registers regs, const Call& call);
  bool at_cache(Thread& thread, Call call);
  Result<void> rule(Thread& thread, Registers regs);
  Result<void> obey(Thread& thread, Registers regs);
  Changed changed_by(const Thread& thread, std::int64_t result);
  void note_call(const Call& call);               // that is not at the cache
  Result<void> step_into(Thread& thread);         // to the stop after the call
  Result<void> step_unwatched(Thread& thread, Call call);
  void bypass(const Thread& thread, const std::string& how);
  // supervisor_elsewhere.cc
  std::optional<Elsewhere::Step> elsewhere_step(const Thread& thread, const Call& call);
  // supervisor_time.cc
  enum class Passing { busy, moved, stuck };
  Result<Passing> pass_time();
  bool only_spinners_may_run() const;             // as far as their looks tell
  bool only_spins(pid_t id) const { return only_spinners_may_run() && spinning_.spins(id); }
  bool somebody_runs(std::map<pid_t, BlockedThread>* blocked);
  std::optional<Nanoseconds> next_timer();
  Result<bool> wake_due();
  Result<void> wake(Thread& thread, std::int64_t answer);
  Result<void> end_kernel_wait(Thread& thread, const BlockedThread& wait);
  Result<void> wake_signalled();
  void tell_rest_of_sleep(const Thread& thread);
  Nanoseconds outside_idle() const { return jitrace::now() - last_activity_; }
  bool has_left_others(const Thread& thread) const;
  void see_own_fifo(const Thread& thread, BlockedThread* wait);
  Nanoseconds outside_for(const std::map<pid_t, BlockedThread>& blocked);
  Result<bool> retry_for_outside();
  void note_outside_time();
  // supervisor_locks.cc
  Result<void> retry_locks();
  Result<bool> retry_after_activity();
  bool something_changed();
  void note_turn();  // another has come, gone or been let go on
  std::vector<std::string> locks_of_tree() const;
  void note_file_change(const TracedCall& done);
  Result<void> interrupt_lock(Thread& thread);
  bool would_deadlock(const Thread& waiter);
  std::vector<pid_t> owners_of(const Thread& waiter, const std::vector<HeldLock>& held, bool* outside) const;
  void tell_stuck(const std::map<pid_t, BlockedThread>& blocked);

  Options options_;
  Scope scope_;
  Elsewhere elsewhere_;
  Director& director_;
  VirtualClock clock_;
  Timers timers_;
  TimerDescriptors timer_descriptors_;
  Spinning spinning_;
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, int> by_pid_;                   // living processes
  std::vector<TracedProcess> processes_;
  std::set<int> doomed_;                          // workers whose tree was killed
  struct Unclaimed {
    int status = 0;
    pid_t parent = -1;                            // when it stopped first
  };
  std::map<pid_t, Unclaimed> unclaimed_;          // stopped, and its parent's event is still to come
  std::deque<TraceeStop> backlog_;                // stops that are to be handled, in the order in which they came
  pid_t handling_ = -1;                           // the thread whose stop is being handled
  pid_t last_resumed_ = -1;
  std::uint64_t activity_ = 0;                    // stops, but those of locks that are tried again
  Nanoseconds last_activity_ = 0;                 // real time of it
  std::uint64_t retried_at_ = 0;                  // what it was then
  struct OutsideWait {
    std::string call, key;                        // of BlockedThread
    Nanoseconds since = 0, moved = 0;             // real time of the first such call, and of the last that was another wait
  };
  std::map<pid_t, OutsideWait> outside_since_;    // waits for outside of the tree
  Nanoseconds tried_for_outside_ = 0;             // real time at which locks were last tried because nobody tells when they are free
  int last_ended_ = -1;                           // process
  std::uint64_t changes_ = 0, changes_seen_ = 0;            // of who there is, and whose turn it is
  bool files_changed_ = false;                              // since that was looked at, besides
  std::set<std::string> born_;                              // files that are new since then
  bool tried_in_vain_ = false;                              // since then, to make what is there already
  std::uint64_t lock_changes_ = 0, lock_changes_seen_ = 0;  // taken or let go
  std::vector<std::string> locks_seen_;                     // who held which, when that was looked at
  std::uint64_t unchanged_ = 0, steps_ = 0;                 // wake-ups, and steps of time, since the last change
  Nanoseconds passed_since_change_ = 0, first_gap_ = 0;
  std::size_t processes_at_change_ = 0;
  struct Look {
    std::string what, path;
  };
  std::map<int, Look> last_look_;                 // by worker: its last call at the cache, whichever process made it
  std::set<std::pair<std::uint64_t, std::uint64_t>> locked_;  // device, inode: a flock of the tree lies on it
  Stuck stuck_;
};

}  // namespace jitrace
