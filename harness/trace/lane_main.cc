// lane PLAN HISTORY STARTER SCRATCH [BACKING]: carries a traced plan out and writes its history. Nothing below it
// survives its end.
#include <sched.h>

#include <cstdio>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/file.h"
#include "trace/lane.h"

namespace {

using namespace jitrace;

// One CPU for the tracer and all that it traces: a stop costs a tenth of what it does across CPUs.
void stay_on(const char* cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::atoi(cpu)), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

Result<void> carry_out(char** argv, const std::string& backing) {
  TRY_ASSIGN(const std::string text, read_file(argv[1]));
  TRY_ASSIGN(const TracePlan plan, TracePlan::parse(text));
  TracedLane lane(plan, {.starter = argv[3], .scratch = argv[4], .backing = backing});
  TRY_ASSIGN(const History history, lane.run());
  return write_file_atomically(argv[2], history.text());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) {
    std::fprintf(stderr, "lane: is started by jitrace\n");
    return 64;
  }
  if (const char* cpu = std::getenv("JITRACE_LANE_CPU")) {
    stay_on(cpu);
    ::unsetenv("JITRACE_LANE_CPU");
  }
  const auto done = carry_out(argv, argc == 6 ? argv[5] : "");
  if (done) return 0;
  // The errno first: the driver tells a full disk from our own fault by it.
  std::fprintf(stderr, "%d %s\n", done.error().code, done.error().message().c_str());
  return 70;
}
