#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/history.h"
#include "plan/trace_plan.h"

namespace jitrace {

// Carries traced plans out, each in a lane process of its own, several at a time. All of them meet their cache under the
// same absolute path: each lane mounts a directory of its own there, which only its processes see.
class LaneRunner {
 public:
  struct Places {
    std::string libexec;
    std::string cache;        // the path that the subjects see; the directory around it is each lane's own, too: locks lie
                              // there; exists and stays empty
    std::string root;         // two above it, on the same file system: the lanes' own directories, and TMPDIR
    std::string scratch;      // in the run directory: outputs, plans
    std::vector<std::string> passing;  // paths elsewhere that no trial may find: each takes away what it makes there
    int lanes = 1;
    int interrupt = -1;       // borrowed; once it is readable no further plan is begun, and those under way are ended
  };
  explicit LaneRunner(Places places) : places_(std::move(places)) {}

  using Done = std::function<void(std::size_t index, Result<History> history)>;
  // One after the other begins; `done` is called as each ends. ECANCELED: interrupted.
  Result<void> run(const std::vector<TracePlan>& plans, const Done& done);
  // Whether this machine lets a program be traced at all: the error says what forbids it.
  static Result<void> try_out(const std::string& libexec);
  // How many lanes this machine allows side by side: one a CPU where private mounts may be made, else 1.
  static int side_by_side();

 private:
  Places places_;
};

}  // namespace jitrace
