#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/prepared.h"
#include "scenario/scenario.h"

namespace jitrace {

// A preset as a program that a sweep can take: one get of the workload's first kernel, with the first toolchain, arch
// and loader that this machine can use.
struct PresetProgram {
  std::vector<std::string> command;
  std::string skipped;  // why this machine cannot run it; empty: it can
};
// An error: the subject is none that one program can be.
Result<PresetProgram> preset_program(const Scenario& scenario, const Subject& subject, const Machine& machine);

}  // namespace jitrace
