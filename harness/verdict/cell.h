#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "verdict/finding.h"
#include "verdict/trial_verdict.h"

namespace jitrace {

struct CacheInfo {
  std::string dir;
  std::string fs;        // ext4, xfs, tmpfs, overlay, nfs4 …
  std::string options;   // mount options
  int clients = 1;
  std::string rename;    // local, nfs-busy
};

// A recovery time over the trials of a cell; trials that never got there are counted, not dropped.
struct Spread {
  int n = 0;
  int unrecovered = 0;
  double p50 = 0, p95 = 0, max = 0;  // ms
};

// Clopper-Pearson at 95 %.
struct Rate {
  int n = 0, k = 0;
  double low = 0, high = 0;
};
Rate rate_of(int k, int n);

// One cell of a report: a subject under one cause, over its trials. The field names are those of report.json.
struct Cell {
  std::string id;               // "torch-baton/kill-compile/nvcc/sm_90a"
  std::string strategy;         // preset(s)
  std::string run;              // exec, popen, ninja, library, command
  std::string toolchain;        // "nvcc 13.0.88"
  std::string arch;
  std::string loader;
  CacheInfo cache;
  int workers = 0;
  std::optional<FaultPlan> fault;   // the first planned fault
  std::string mode;                 // gated, free
  std::string cause;                // "none", or the fault's name and whether it was injected
  int trials = 0;
  int inconclusive = 0;
  std::map<std::string, int> inconclusive_reasons;
  std::optional<std::string> skipped;  // reason
  bool not_reached = false;            // skipped, because the run ended before it: no machine's fault, so never waived
  std::map<std::string, int> outcomes;
  std::map<std::string, int> findings;  // class → trials that showed it
  std::map<std::string, Rate> rates;    // free mode
  int recovered = 0;                    // trials
  Spread handoff, first_served, all_served;
  int builds = 0;
  std::map<std::string, int> builds_per_key;  // the most in one trial
  int peak_builds = 0;
  int faults_planned = 0, faults_fired = 0;
  int warnings = 0;
  double start_skew_ms = 0;             // median
  std::vector<std::string> expected;    // the expectation in words, one clause each
  std::vector<std::string> unmet;       // clauses that did not hold, with what was seen
  bool met = false;
  Grade verdict = Grade::inconclusive;
  std::string replay;                   // "jitrace replay FILE" of the first telling trial; empty if there is none
  std::vector<Finding> examples;        // one a class, with evidence
  std::vector<std::string> notes;
  std::vector<TrialVerdict> judged;     // what the counts were made of, in the order of the trials; not reported
};

// What reports are rendered from: everything a run has to say.
struct Report {
  int schema = 1;
  std::string scenario;
  std::string about;                    // the scenario's own sentence
  Grade verdict = Grade::inconclusive;
  bool interrupted = false;
  std::map<std::string, std::string> machine;  // nvcc, driver, gpus, kernel, cpus, memory, boost of nothing else
  std::uint64_t seed = 0;
  std::string out;                      // run directory
  std::vector<Cell> cells;
};

}  // namespace jitrace
