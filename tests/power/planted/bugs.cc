#include "power/planted/bugs.h"

#include <algorithm>

namespace jitrace::power {

const std::vector<Bug>& bugs() {
  static const std::vector<Bug> table = {
      {"sweep-without-gate", "msa-flock over flock",
       "the leftover's sweep does not ask which lock lies inside: it removes the file of a live flock",
       [](Preset& p) { p.locks[0].gate = SweepGate::ungated; }},
      {"no-recheck", "deepgemm-flock", "whoever gets the lock builds, without a look at what its last owner has built",
       [](Preset& p) { p.recheck = Recheck::no; }},
      {"early-unlock", "deepgemm-flock", "the lock is given back before the artifact has its name",
       [](Preset& p) { p.unlock = Unlock::before_publish; }},
      {"early-unlock-in-place", "torch-flock", "the lock is given back before the compiler starts",
       [](Preset& p) { p.unlock = Unlock::before_publish; }},
      {"one-lock-for-all", "deepgemm-flock", "one lock file for all keys", [](Preset& p) { p.locks[0].name = "all"; }},
      {"fails-at-bound", "gptqmodel-flock", "an error at the bound, where the fix falls back",
       [](Preset& p) { p.locks[0].at_bound = AtBound::fail; }},
      {"load-by-name", "sound", "what was verified is not what is loaded: the file is opened again by its name",
       [](Preset& p) { p.load.own_copy = false; }},
      {"trusts-names", "sound", "a hit is a file that is there, its digest is not asked for",
       [](Preset& p) {
         p.check = Check::exists;
         p.load.own_copy = false;  // without verified bytes there is no copy of them
       }},
      {"publish-in-place", "deepgemm", "the compiler writes where the others look",
       [](Preset& p) { p.publish = Publish::in_place; }},
      {"incomplete-is-an-error", "deepgemm", "half an entry is an error for ever, where the row builds it again",
       [](Preset& p) { p.incomplete = Incomplete::error; }},
      {"exit-code-only", "deepgemm-dir", "WEXITSTATUS without WIFEXITED: a killed shell reads as success",
       [](Preset& p) { p.status = StatusReading::exit_code_only; }},
      {"leaves-a-process", "deepgemm-flock", "a process that the worker started outlives it", nullptr,
       Leaves::a_process},
      {"leaves-a-file", "deepgemm-flock", "a temporary file that nobody removes", nullptr, Leaves::a_temporary_file},
      // A repair: the row itself forgets close-on-exec.
      {"close-on-exec", "deepgemm-flock", "the compiler does not inherit the lock's descriptor",
       [](Preset& p) { p.locks[0].inherit = InheritLock::no; }},
  };
  return table;
}

const Bug* find_bug(std::string_view name) {
  const auto found = std::find_if(bugs().begin(), bugs().end(), [name](const Bug& bug) { return bug.name == name; });
  return found == bugs().end() ? nullptr : &*found;
}

}  // namespace jitrace::power
