#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "event/board.h"
#include "fault/engine.h"
#include "plan/control.h"
#include "process/guard.h"
#include "trial/hang_proof.h"
#include "trial/lane.h"
#include "trial/setup.h"
#include "trial/stage.h"

namespace jitrace {

// One gated trial while it runs: the driver's view of its processes, and the Control that faults act through.
class Session final : public Control {
 public:
  Session(const Plan& plan, const Setup& setup, const Stage& stage, Board board, Lane& lane, const Fd& interrupt);

  // Runs all rounds. False: interrupted.
  Result<bool> run();
  // Everything written by anybody, in the order of the stamps. Call once, after run().
  std::vector<Event> take_events();
  std::uint64_t torn_records() const { return board_.torn(); }
  const std::string& failure() const { return failure_; }

  void release(Slot slot, Order order) override;
  Result<void> signal_worker(Slot slot, int number) override;
  Result<void> signal_tool(pid_t pid, int number) override;
  Result<void> signal_tree(pid_t pid, int number) override;
  Result<void> signal_group(Slot slot, int number) override;
  Result<void> exit_137(Slot slot) override;
  void arm(Point point) override;
  void disarm(Point point) override;
  void note(Event event) override;
  Result<void> damage_cache(const std::string& path, const std::string& how, Slot slot) override;

 private:
  // `over`: only those are left whom the plan stopped for ever.
  enum class RoundEnd { all_ended, over, hang, stalled, interrupted };

  // A fault of a free trial: at a moment drawn from the seed, the one place where a moment is random.
  struct Timed {
    Nanoseconds at = 0;
    int fault = 0;
  };

  // What a look at all processes came to: the end of the round, or that somebody was let go.
  struct Look {
    std::optional<RoundEnd> end;
    bool released = false;
  };

  Result<Look> look_at_round(int round, bool over);
  Result<RoundEnd> run_round(int round, const std::vector<WorkerPlan>& workers);
  Result<void> start_workers(int round, const std::vector<WorkerPlan>& workers);
  Result<void> pump(Nanoseconds deadline);  // waits for something to happen and takes it in
  void take_board(Board::Torn torn);
  Result<void> take_guard();
  void take(Event event);
  void guard_said(const GuardEvent& said);
  std::vector<std::string> arguments(Slot slot, int index, const std::string& spec_path) const;
  void schedule_random(int round, Nanoseconds start);
  void fire_due();
  void judge_command(Slot slot, const WaitStatus& status);
  void take_back_late_kill(Slot slot, const WaitStatus& status);
  bool round_ready(int round) const;
  bool tools_left(const std::vector<Descendant>& descendants) const;
  bool orphans_left(const std::vector<Descendant>& descendants) const;
  bool orphans_stand(const std::vector<Descendant>& descendants) const;
  bool all_waiting() const;
  // Writes a proved hang down.
  HangProof look_for_hang(int round);
  void dump(int round, const std::string& blocked_by);
  Result<void> clean_up();
  // A process of the first client that has the file open until the round ends: what makes a rename's target busy.
  Result<void> hold_open(const std::string& path, Slot slot);
  Result<void> end_holders();
  std::string resolve(const std::string& path) const;
  Slot slot_of(std::uint32_t id) const;

  const Plan& plan_;
  const Setup& setup_;
  const Stage& stage_;
  Board board_;
  Guard& guard_;
  const Fd& interrupt_;
  World world_;
  FaultEngine engine_;
  std::vector<Event> events_;
  std::uint64_t next_record_ = 0;
  std::uint32_t id_base_;
  Slot next_slot_ = 0;
  std::map<std::string, Slot> owners_;       // lock path → who passed lock_held there last
  std::map<Slot, std::string> ends_;
  std::map<Slot, std::uint64_t> cpu_at_wait_;
  std::set<pid_t> daemons_;
  std::set<pid_t> holders_;
  std::uint32_t holder_ids_ = 0;
  bool interrupted_ = false;
  bool swept_ = false;
  bool cleaning_ = false;
  std::string last_block_;
  std::string failure_;
  std::map<Slot, std::string> presets_;
  std::vector<Timed> timed_;
  std::map<Slot, int> struck_at_random_;  // the fault's index in the plan
};

}  // namespace jitrace
