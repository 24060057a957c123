#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace jitrace {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "jitrace: bug: %s:%d: %s does not hold\n", file, line, expression);
  std::abort();
}

}  // namespace jitrace
