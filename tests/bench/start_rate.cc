// Starts per second, exit included, from a process with 256 MB resident: ours, posix_spawn and fork in one run.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "process/guard.h"

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
  Command command;
  command.argv = {program};
  for (auto _ : state) {
    auto process = Process::spawn(command);
    if (!process || !process->wait()) state.SkipWithError("could not start");
  }
  state.SetItemsProcessed(state.iterations());
}

// By request to a guard, which is small: 64 requests under way at a time, as when a round's workers start.
void start_by_guard(benchmark::State& state) {
  be_large();
  auto guard = Guard::start(std::string(JITRACE_LIBEXEC) + "/guard");
  if (!guard) {
    state.SkipWithError("no guard");
    return;
  }
  const auto environment = environment_with({});
  std::uint32_t id = 0;
  for (auto _ : state) {
    constexpr int batch = 64;
    for (int i = 0; i < batch; ++i) {
      if (!guard->start_process({++id, {program}, environment, "", ""})) state.SkipWithError("could not start");
    }
    for (int ended = 0; ended < batch;) {
      pollfd readable{guard->socket().get(), POLLIN, 0};
      ::poll(&readable, 1, -1);
      for (const GuardEvent& event : guard->receive().value()) ended += event.kind == GuardEvent::Kind::ended ? 1 : 0;
    }
  }
  state.SetItemsProcessed(state.iterations() * 64);
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
BENCHMARK(start_by_guard)->UseRealTime();
BENCHMARK(start_posix_spawn)->UseRealTime();
BENCHMARK(start_fork)->UseRealTime();

}  // namespace
}  // namespace jitrace

BENCHMARK_MAIN();
