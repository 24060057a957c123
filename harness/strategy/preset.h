#pragma once

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
enum class LockFile { inside_entry, beside_root, locks_dir };  // <entry>/…, <root>.lock, <root>/locks/…
enum class InheritLock { no, yes };
enum class SweepBaton { no, yes };

struct LockChoice {
  LockKind kind = LockKind::none;
  LockFile file = LockFile::inside_entry;
  std::string name;                    // "lock", "build.lock"; empty where the key names it
  Nanoseconds poll = 0;                // 0: the call blocks
  Nanoseconds poll_max = 0;            // the interval doubles up to this; 0: it stays
  Nanoseconds bound = 0;               // 0: none. Scaled by the plan's bound_scale
  AtBound at_bound = AtBound::wait_on;
  InheritLock inherit = InheritLock::no;
  SweepBaton sweep = SweepBaton::no;   // remove a leftover inner `lock` once held, with a warning
};

struct LoadChoice {
  bool under_lock = false;
  bool own_copy = false;               // from verified bytes of the own or found copy
  bool recheck = false;                // looks again after the lock
  bool probe_first = false;            // looks before the lock
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
};

// The table. Names as in scenarios; an unknown one gives nothing.
const std::vector<Preset>& presets();
const Preset* find_preset(std::string_view name);
// Which RunKind the preset uses with this toolchain (nvrtc: library).
RunKind run_of(const Preset& preset, std::string_view toolchain);
std::string_view name_of(RunKind kind);
std::string_view name_of(LockKind kind);

}  // namespace jitrace
