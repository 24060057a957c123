#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "event/point.h"
#include "scenario/catalogue.h"
#include "scenario/expectation.h"
#include "scenario/fault.h"

namespace jitrace {

// A scenario file as a value; defaults.toml is its reference. Every name in it has been checked against the catalogue.

struct Workload {
  std::vector<std::string> kernels;
  std::vector<std::string> archs;
  std::vector<std::string> toolchains;       // in order of preference: the first usable one runs
  std::vector<std::string> each_toolchain;   // if not empty: a cell for each of them instead
  std::string loader = "auto";               // of cubins; shared objects are always dlopened
  std::vector<std::string> load_apis;        // of cubins: library, module; a cell for each
  std::string device;                        // target of the elf loader; empty: the arch that was compiled for
  std::string mode = "gated";                // of built-in subjects; a command always runs free
  std::vector<int> workers;                  // a cell for each
  std::vector<int> keys;                     // the first n kernels, a cell for each; 0: all
  int rounds = 1;
  int gets = 1;
  int trials = 20;
  std::uint64_t seed = 1;
  double bound_scale = 1.0;
  Nanoseconds fake_duration = 0;
  Nanoseconds watchdog = seconds(120);
};

struct CacheSetup {
  std::vector<std::string> dirs;  // one, or one per client; empty: a directory of the run
  int clients = 1;
  std::string rename = "local";   // local, nfs-busy
};

struct WorkerEntry {
  std::string preset;
  int client = -1;                // -1: by turns
  std::string action = "get";     // get, clear, force_rebuild
};

// What is tested. Presets and explicit workers go by turns over the slots; a command is any program.
struct Subject {
  std::string name;
  std::vector<WorkerEntry> workers;
  bool fixed_size = false;        // workers were written out: there are as many as that
  std::vector<std::string> command;  // {here} is replaced already; {cache} {worker} {key} {out} when it is started
};

struct BeforeStep {
  std::string action;             // put, entry, cut, empty, replace, remove
  std::string path;               // a pattern: {entry} {artifact} {source} {lock} of key 0; else relative to the cache
  std::string content;            // put, replace
};

struct FaultStep {
  FaultWord what;
  bool every_victim = false;      // who = "*"
  Victim who = Victim::builder;
  int index = 1;
  bool every_point = false;       // at = "*"
  Point at = Point::none;
  bool at_random = false;         // at = "random"; free mode only
  int occurrence = 1;
  int waiters = 0;                // strikes once so many other workers wait
  OrphanOrder order = OrphanOrder::none;
  Point until = Point::none;
  std::string path;
};

// One cause that cells have: faults, a prepared cache, another way of renaming. Nothing of it: a control.
struct FaultEntry {
  std::string name = "none";
  std::string about;
  std::vector<FaultStep> steps;
  std::vector<BeforeStep> before;
  std::vector<std::string> subjects;  // only for these; empty: for all
  std::optional<std::string> rename, mode;
  std::optional<int> clients, workers, rounds, gets, keys, trials;
  std::optional<double> bound_scale;
  std::optional<Nanoseconds> watchdog;
};

// Which cells an expectation is for. Over all entries that match a cell, the last word on a clause or a class holds.
struct ExpectEntry {
  std::vector<std::string> subjects, faults, toolchains, loaders, load_apis;  // empty: every one
  Expectation expectation;
};

// What a sweep of a subject has to show in a range of its matrix; every cell that is in none has to be recovered. Over all
// ranges that hold a cell, the last has the word.
struct SweepEntry {
  std::vector<std::string> subjects;  // empty: every one
  std::vector<std::string> faults;    // patterns: for such faults at calls that match `after`, and for no row
  std::string after;                  // the first row whose call matches opens it; empty: it begins with the first row
  std::string role = "*";             // … and is made by such a process
  std::string until;                  // the first later row whose call matches is behind its end; empty: to the end
  std::vector<std::string> columns;   // empty: all
  std::vector<std::string> ends;      // one of them; not empty
};

struct Scenario {
  std::string file;
  std::string name;
  std::string about;
  Workload workload;
  CacheSetup cache;
  std::vector<Subject> subjects;
  std::vector<FaultEntry> faults;  // at least one
  std::vector<ExpectEntry> expects;
  std::vector<SweepEntry> sweeps;
};

}  // namespace jitrace
