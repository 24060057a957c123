#include <cstdio>

#include "base/text.h"
#include "process/guard.h"

int main(int argc, char** argv) {
  const auto limit = argc == 2 ? jitrace::parse_int(argv[1]) : std::nullopt;
  if (!limit || *limit <= 0) {
    std::fputs("guard: jitrace starts this program; it is of no use by hand\n", stderr);
    return 64;
  }
  return jitrace::guard_main(static_cast<std::uint64_t>(*limit));
}
