#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/file.h"
#include "event/history.h"
#include "plan/trace_plan.h"
#include "trace/supervisor.h"

namespace jitrace {

// Carries one traced plan out, in a process of its own. Round 1 is the plan's work under the letter A; the rounds after
// it are a fresh process each, B and C: what they meet is what the kill left.
class TracedLane final : public Director {
 public:
  struct Places {
    std::string starter;    // libexec/jitrace/traced
    std::string scratch;    // exists, empty: outputs
    std::string backing;    // what is mounted on the plan's cache, or over what lies around it and beside that, for this process
                            // and its children only; empty: nothing is
  };
  TracedLane(TracePlan plan, Places places);
  ~TracedLane() override;

  // An error is our own or the machine's; what the subject does wrong is in the history.
  Result<History> run();

 private:
  Ruling before(const TracedCall& call) override;
  void after(const TracedCall& call, std::int64_t result, Changed changed) override;
  void started(const TracedProcess& process) override;
  void ended(const TracedProcess& process) override;
  void parked(const TracedCall& call) override;
  void passed(Nanoseconds time) override;
  void bypassed(const TracedProcess& process, const std::string& how) override;

  // What is this trial's alone, and is copied: the cache, or the directory around it.
  // For temporary files of the trial: beside its own directory, of which they are no part.
  std::string temporary() const;
  const std::string& own() const { return plan_.around.empty() ? plan_.cache : plan_.around; }
  Result<void> set_up();
  // lane_beside.cc
  std::vector<std::string> paths_beside() const;  // of plan_.beside, as they are here
  Result<void> set_up_beside();
  Result<void> save_beside(const std::string& snapshot) const;
  void note_elsewhere();
  void list_beside();
  Result<void> clear_beside();
  std::string journal() const { return join(places_.scratch, Elsewhere::journal_name); }
  Result<void> carry_out();
  Result<void> first_round();
  // lane_fault.cc
  Result<void> killed_round();
  Result<void> answered_round();
  Result<void> note_missed(Supervisor::Halt halt, int top);
  Result<void> wait_beside();
  Result<void> until_struck_gone();
  Result<void> orphans_first();
  Result<void> orphans_held();
  void arrive();
  void strike();
  void note_fired(const std::string& what);
  std::optional<Ruling> at_step(const TracedCall& call);
  bool is_step(const TracedCall& call, Side side) const;

  Result<void> recovery();
  Result<void> recovery_after(Outcome second);
  Result<void> counted_round();
  // One fresh process to its end; says how that was in an `outcome` event.
  Result<Outcome> fresh();
  Outcome last_outcome() const;
  struct WorkerCommand {
    Command command;   // borrows the descriptors
    Fd in, out;
  };
  Result<WorkerCommand> command_of(int worker) const;
  Result<int> start_worker();
  Result<Supervisor::Halt> until_gone(int worker);
  Result<void> conclude(Supervisor::Halt halt, int top);
  Result<void> drain();
  void note(Event event);
  void note_round();
  void note_outcome(int top, Outcome outcome, std::string text);
  void note_stuck(int top);
  Result<void> save_snapshot(const std::string& role, const std::string& what, int occurrence);
  void follow_steps(const std::string& step);
  std::string maker_of(const std::string& path) const;
  std::string label(int process) const;
  std::string last_words(int worker) const;

  TracePlan plan_;
  Places places_;
  History history_;
  Nanoseconds began_ = 0;
  std::optional<Tapes> tapes_;
  std::unique_ptr<Supervisor> supervisor_;
  int round_ = 0;
  int workers_ = 0;
  std::map<std::pair<std::string, std::string>, int> seen_;  // (role, what) → how often, in round 1
  std::map<pid_t, int> occurrence_;                          // of the call that the thread is in
  bool struck_ = false;
  bool holding_ = false;                                     // orphans stand before their next change
  // Whose processes stand before their next call at the cache: the builder's at its step until another waits for it, or
  // that one's until the orphans are through.
  enum class Standing { nobody, builder, waiter } standing_ = Standing::nobody;
  std::optional<int> waiter_;                                // its first process, from its start until it is over
  bool looked_ = false, waits_ = false;                      // it has been at the cache; it waits for the builder
  int idle_ = 0;                                             // times that only the clock moved since its last change
  std::map<std::string, std::size_t> steps_done_;            // a role's changes so far, to be compared with plan_.steps
  std::map<std::string, std::vector<std::string>> steps_due_;
  std::map<std::string, int> made_by_;                       // path → process
  std::set<std::size_t> trials_own_, restored_;              // those of plan_.beside that were not there before; by a copy
  std::vector<std::string> passing_;                         // paths outside that go when the trial is over
  std::optional<std::string> diverged_;
  std::set<std::string> bypasses_;
  std::optional<Error> failed_;
};

}  // namespace jitrace
