#pragma once

#include <set>
#include <string>

#include "loader/loader.h"
#include "verdict/trial_verdict.h"

namespace jitrace {

inline constexpr std::int64_t good_flags = load_intact | load_right_key | load_right_stamp;

// Builds a history step by step, a millisecond a step, as a trial would have written it.
class Recorder {
 public:
  Recorder(const std::string& preset, int workers, int rounds = 1, int keys = 1);

  Plan plan;
  History history;

  Event& add(EventKind kind, Slot slot = driver_slot);  // to fill in the rest of it
  void wait_ms(std::int64_t n) { clock_ += milliseconds(n); }
  void round(int number);                               // starts its workers and lets them go

  void get(Slot slot, std::uint16_t key = 0) { add(EventKind::get_begin, slot).key = key; }
  void reach(Slot slot, Point point, const std::string& path = "", std::int64_t inode = 0, std::uint16_t key = 0);
  void lock(Slot slot, const std::string& path, std::int64_t inode = 7, std::uint16_t key = 0) {
    reach(slot, Point::lock_held, path, inode, key);
  }
  void unlock(Slot slot, const std::string& path) { reach(slot, Point::unlock, path); }
  void waits(Slot slot, ConditionKind kind, const std::string& path, Nanoseconds bound = 0, std::uint16_t key = 0);
  void wait_over(Slot slot, WaitEnd end = WaitEnd::satisfied) {
    add(EventKind::wait_over, slot).a = static_cast<std::int64_t>(end);
  }
  void attempt(Slot slot, std::uint64_t id, std::uint16_t key = 0);
  void attempt_ends(Slot slot, std::uint64_t id, std::int64_t status = 0, const std::string& output = "");
  void build(Slot slot, std::uint64_t id, std::uint16_t key = 0) {
    attempt(slot, id, key);
    attempt_ends(slot, id);
  }
  void tool(Slot slot, std::uint32_t pid, std::uint64_t attempt, ToolRole role);
  void output(std::uint64_t attempt, std::int64_t phase, const std::string& path);
  void load(Slot slot, std::uint64_t stamp, std::int64_t flags = good_flags, LoadCode code = LoadCode::ok,
            const std::string& message = "", std::uint16_t key = 0);
  void outcome(Slot slot, Outcome outcome, const std::string& error = "");
  void ends(Slot slot, int status = 0, std::int64_t how = 0);
  void serve(Slot slot, std::uint64_t stamp, Outcome how = Outcome::served) {
    load(slot, stamp);
    outcome(slot, how);
  }
  // Plans the fault and fires it; a killed worker ends at once.
  void fire(Slot slot, FaultKind kind = FaultKind::kill, Victim who = Victim::builder);
  void hang(Slot slot, int round, const std::string& chain = "worker 1 waits for absent(k/lock)");
  void file(const std::string& path, const std::string& state = "", std::uint64_t size = 100) {
    history.snapshot.push_back({path, size, 1, 0, state});
  }
  // Ends every worker that still runs and settles; then the trial is judged.
  TrialVerdict verdict();

 private:
  Nanoseconds clock_ = seconds(1000);
  std::set<Slot> running_;
};

bool has(const TrialVerdict& verdict, FindingClass kind);
const Finding& first(const TrialVerdict& verdict, FindingClass kind);
int findings(const TrialVerdict& verdict, FindingClass kind);

}  // namespace jitrace
