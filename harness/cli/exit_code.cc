#include "cli/exit_code.h"

#include <csignal>

namespace jitrace {

ExitCode code_of(Grade grade) {
  switch (grade) {
    case Grade::pass: return ExitCode::met;
    case Grade::fail: return ExitCode::findings;
    case Grade::inconclusive: break;
  }
  return ExitCode::inconclusive;
}

ExitCode interrupted_by(int signal) { return signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted; }

}  // namespace jitrace
