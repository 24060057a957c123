#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "scenario/scenario.h"

namespace jitrace {

// What can run on this machine, by name: "nvcc", "nvcc@/opt/cuda-12.4/bin/nvcc", "cxx"; "elf", "dlopen".
struct Usable {
  std::vector<std::string> toolchains;
  std::vector<std::string> loaders;
};

// One cell of a run: a subject under one cause with one toolchain, its trials still to be planned.
struct CellPlan {
  std::string id;              // unique in the run: "torch-baton/kill-compile/nvcc/sm_90a"
  Subject subject;
  FaultEntry fault;            // its `every` steps made definite; without steps, before and overrides: the control
  std::string toolchain;       // the usable one's name; if there is none, the wanted one's
  std::string arch;            // "host" for cxx
  std::string loader;          // cuda, elf, dlopen, fake
  std::string load_api;
  Mode mode = Mode::gated;
  int workers = 0;
  int keys = 0;                // > 0
  int trials = 0;
  std::string not_applicable;  // why the fault cannot strike this subject; empty: it can. Known without the machine
  std::string skipped;         // why this machine cannot run it; empty: it can
  Expectation expectation;     // of all entries that match, clause by clause the last word; may be empty
};

// Every cell, in the order of the file: faults within subjects, toolchains within faults. Pure.
std::vector<CellPlan> cells_of(const Scenario& scenario, const Catalogue& catalogue, const Usable& usable);

// Trial `trial` (from 1) of a cell that is applicable and not skipped. Pure: the seed of the trial comes from the
// scenario's seed, the cell's id and the number, so choosing fewer cells changes no plan.
Plan plan_of(const Scenario& scenario, const CellPlan& cell, int trial);

// How an artifact of this preset's way to build and this toolchain is loaded: dlopen, fake, or `cubin_loader`.
std::string loader_for(const CataloguePreset& preset, std::string_view toolchain, const std::string& wanted,
                       const Usable& usable);
// "nvcc" of "nvcc@/opt/…".
std::string toolchain_kind(std::string_view name);

}  // namespace jitrace
