// Starts per second, exit included, from a process with 256 MB resident: ours, posix_spawn and fork in one run.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "process/process.h"

namespace jitrace {
namespace {

constexpr std::size_t resident_bytes = 256 << 20;
const std::string program = std::string(JITRACE_BINARY_DIR) + "/tests/programs/do_nothing";

// In small pages: what fork copies is the page table.
void be_large() {
  static void* memory = nullptr;
  if (memory != nullptr) return;
  memory = ::mmap(nullptr, resident_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(memory, resident_bytes, MADV_NOHUGEPAGE);
  std::memset(memory, 1, resident_bytes);
}

void start_ours(benchmark::State& state) {
  be_large();
  const Command command{.argv = {program}, .environment = {}, .directory = {}, .inherit = {}, .place = {}};
  for (auto _ : state) {
    auto process = Process::spawn(command);
    if (!process || !process->wait()) state.SkipWithError("could not start");
  }
  state.SetItemsProcessed(state.iterations());
}

void start_posix_spawn(benchmark::State& state) {
  be_large();
  char* argv[] = {const_cast<char*>(program.c_str()), nullptr};
  for (auto _ : state) {
    pid_t pid = 0;
    int status = 0;
    if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) != 0) state.SkipWithError("could not start");
    ::waitpid(pid, &status, 0);
  }
  state.SetItemsProcessed(state.iterations());
}

void start_fork(benchmark::State& state) {
  be_large();
  char* argv[] = {const_cast<char*>(program.c_str()), nullptr};
  for (auto _ : state) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execv(program.c_str(), argv);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(start_ours)->UseRealTime();
BENCHMARK(start_posix_spawn)->UseRealTime();
BENCHMARK(start_fork)->UseRealTime();

}  // namespace
}  // namespace jitrace

BENCHMARK_MAIN();
