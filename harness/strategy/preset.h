#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "event/point.h"

namespace jitrace {

// The six choices of design 4. A preset is a row of them.
enum class LockKind { none, baton, flock, ofd, daemon };
enum class RunKind { exec, popen, ninja, library };
enum class Place { shared, private_dir };
enum class Publish { in_place, rename_file, rename_dir };
enum class Check { none, exists, complete, digest };
enum class AtBound { wait_on, fail, fall_back, go_on_unlocked };
enum class LockFile { inside_entry, beside_root, locks_dir };  // <entry>/…, <base>.lock, <root>/locks/…
enum class InheritLock { no, yes };
enum class SweepBaton { no, yes };

// Where the files of a key lie; one a family of systems (layout.h).
enum class Family { torch, fingerprint, deepgemm, sound };
// What the system makes of an entry whose directory is there and whose files are not.
enum class Incomplete { miss, error };
// How the exit status of a shell's child is read. exit_code_only is WEXITSTATUS of whatever came: a shell that died of
// a signal reads as success (subjects.md M12).
enum class StatusReading { whole, exit_code_only };
// What a second look under the lock does: nothing, look again as at the probe, or try to load.
enum class Recheck { no, look, load };
enum class Sync { no, yes };
// When the locks are given back. `before_publish` mirrors nobody: it is a planted bug of the power suite.
enum class Unlock { after_publish, before_publish };
// Whether a sweep asks which lock lies inside. `ungated` is a planted bug: it unlinks a live flock's file.
enum class SweepGate { only_over_baton, ungated };
enum class DeleteUnder { nothing, lock };
// Whether the compiler may go on after its builder has ended.
enum class Orphans { live_on, die };
// What wait_on and the rest do when the lock call itself fails (ENOLCK, EACCES, …).
enum class LockError { fail, contention, go_on_unlocked };

struct LockChoice {
  LockKind kind = LockKind::none;
  LockFile file = LockFile::inside_entry;
  std::string name;                    // "lock", "build.lock"; empty where the key names it
  Nanoseconds poll = 0;                // 0: the call blocks
  Nanoseconds poll_max = 0;            // the interval doubles up to this; 0: it stays
  Nanoseconds bound = 0;               // 0: none. Scaled by the plan's bound_scale
  int bound_times = 0;                 // the bound is at least so many times the compile's baseline
  AtBound at_bound = AtBound::wait_on;
  LockError on_error = LockError::fail;
  InheritLock inherit = InheritLock::no;
  SweepBaton sweep = SweepBaton::no;   // remove a leftover inner `lock` once held, with a warning
  SweepGate gate = SweepGate::only_over_baton;
  bool reopens = false;                // opens the file anew at each try, and again if it was unlinked meanwhile
  bool keeps_record = false;           // the holder notes its compiler in the file; waiters extend their bound by it
};

struct LoadChoice {
  bool under_lock = false;
  bool own_copy = false;               // from verified bytes of the own or found copy
  bool recheck = false;                // looks again after the lock
  bool probe_first = false;            // looks before the lock
  int times = 1;                       // GPTQModel loads what torch's load() has loaded just before
};

struct Preset {
  std::string_view name;
  std::string_view mirrors;            // one line, with the source it was read from
  std::vector<LockChoice> locks;       // outermost first
  RunKind run = RunKind::exec;
  Place place = Place::shared;
  Publish publish = Publish::in_place;
  Check check = Check::exists;
  LoadChoice load;
  int builds_per_key = 1;              // promised; 0: as many as there are workers
  std::vector<Point> points;           // those it passes, in order; a fault at another is n/a

  Family family = Family::torch;
  Recheck recheck = Recheck::no;
  Incomplete incomplete = Incomplete::miss;
  StatusReading status = StatusReading::whole;
  Sync sync = Sync::no;
  Unlock unlock = Unlock::after_publish;
  DeleteUnder deletes = DeleteUnder::nothing;
  Orphans orphans = Orphans::live_on;
};

// The table. Names as in scenarios; an unknown one gives nothing. Besides the nine rows there are variants, found by
// name only: "msa-flock over baton", "msa-flock over flock", "gptqmodel-flock over flock",
// "gptqmodel-flock unlocked-clear" (before the fix of clear), "gptqmodel-flock lock-inside".
const std::vector<Preset>& presets();
const std::vector<Preset>& preset_variants();
const Preset* find_preset(std::string_view name);
// Which RunKind the preset uses with this toolchain (nvrtc: library).
RunKind run_of(const Preset& preset, std::string_view toolchain);
std::string_view name_of(RunKind kind);
std::string_view name_of(LockKind kind);

// The bound of a wait in this trial: the larger of the lock's own bound and `bound_times` × the baseline, scaled.
// 0: none. GPTQModel's rule is max(600 s, 5 × baseline).
Nanoseconds bound_of(const LockChoice& lock, Nanoseconds baseline, double scale);

}  // namespace jitrace
