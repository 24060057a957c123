#pragma once

#include <string>

#include "verdict/cell.h"

namespace jitrace {

// JUnit XML in the form that Jenkins, GitLab and Surefire's readers share: a suite per scenario, a case per cell. Not
// met is a failure, inconclusive an error, skipped a skip.
std::string render_junit(const Report& report);

}  // namespace jitrace
