// How soon N processes run after the start of a round: from the wake to the first and to the last stamp, through
// Board::wait_for_start and, in the same run, through a bare futex on shared memory.
#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <new>
#include <vector>

#include "base/clock.h"
#include "event/board.h"
#include "process/proc.h"
#include "scratch.h"

namespace jitrace {
namespace {

constexpr std::size_t most_processes = 64;

struct Shared {
  std::atomic<std::uint32_t> round;
  std::array<std::atomic<Nanoseconds>, most_processes> stamp;  // 0: not yet in this round
};

Shared* shared_memory() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) Shared{};
}

template <class Body>
std::vector<pid_t> fork_each(std::size_t count, Body body) {
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body(i);
      ::_exit(0);
    }
    children.push_back(pid);
  }
  return children;
}

void end_all(const std::vector<pid_t>& children) {
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

// A process that has said that it is ready has still to fall asleep on the futex.
void wait_until_asleep(const std::vector<pid_t>& children) {
  for (const pid_t child : children) {
    while (proc_stat(child).value_or(ProcStat{}).state != 'S') {
    }
  }
}

struct Times {
  std::vector<double> first, last;
  void add(Nanoseconds woken, const std::vector<Nanoseconds>& stamps) {
    const auto [low, high] = std::minmax_element(stamps.begin(), stamps.end());
    first.push_back(static_cast<double>(*low - woken) / 1e3);
    last.push_back(static_cast<double>(*high - woken) / 1e3);
  }
  static double median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  void report(benchmark::State& state) {
    state.counters["first_us"] = median(first);
    state.counters["last_us"] = median(last);
  }
};

void release_by_futex(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Shared* shared = shared_memory();
  const auto futex = [&](int operation, std::uint32_t value) {
    ::syscall(SYS_futex, &shared->round, operation, value, nullptr, nullptr, 0);
  };
  const auto children = fork_each(count, [&](std::size_t i) {
    for (std::uint32_t round = 1;; ++round) {
      std::uint32_t seen = 0;
      while ((seen = shared->round.load(std::memory_order_acquire)) < round) futex(FUTEX_WAIT, seen);
      shared->stamp[i].store(now(), std::memory_order_release);
    }
  });
  Times times;
  std::uint32_t round = 0;
  for (auto _ : state) {
    wait_until_asleep(children);
    for (std::size_t i = 0; i < count; ++i) shared->stamp[i].store(0);
    const Nanoseconds woken = now();
    shared->round.store(++round, std::memory_order_release);
    futex(FUTEX_WAKE, INT_MAX);
    std::vector<Nanoseconds> stamps(count);
    for (std::size_t i = 0; i < count; ++i) {
      while ((stamps[i] = shared->stamp[i].load(std::memory_order_acquire)) == 0) ::usleep(100);
    }
    times.add(woken, stamps);
    state.SetIterationTime(times.first.back() / 1e6);
  }
  end_all(children);
  times.report(state);
}

void release_by_board(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const TempDir dir = scratch();
  Board board = std::move(Board::create(join(dir.path(), "board"), {128, 1 << 18}, 64).value());
  const auto children = fork_each(count, [&](std::size_t i) {
    for (std::uint32_t round = 1;; ++round) board.wait_for_start(static_cast<Slot>(i), round);
  });
  Times times;
  std::uint32_t round = 0;
  std::uint64_t next = 0;
  std::vector<Event> events;
  const auto wait_for = [&](EventKind kind) {
    std::vector<Nanoseconds> stamps;
    while (stamps.size() < count) {
      for (const Event& event : events) {
        if (event.kind == kind) stamps.push_back(event.stamp);
      }
      if (kind == EventKind::released) std::erase_if(events, [](const Event& e) { return e.kind == EventKind::released; });
      else std::erase_if(events, [](const Event& e) { return e.kind == EventKind::ready; });
      if (stamps.size() < count) {
        ::usleep(100);
        for (Event& event : board.read(&next)) events.push_back(std::move(event));
      }
    }
    return stamps;
  };
  for (auto _ : state) {
    wait_for(EventKind::ready);
    wait_until_asleep(children);
    board.clear_bell();
    const Nanoseconds woken = now();
    board.start(++round);
    times.add(woken, wait_for(EventKind::released));
    state.SetIterationTime(times.first.back() / 1e6);
  }
  end_all(children);
  times.report(state);
}

BENCHMARK(release_by_futex)->Arg(8)->Arg(64)->UseManualTime()->Iterations(500);
BENCHMARK(release_by_board)->Arg(8)->Arg(64)->UseManualTime()->Iterations(500);

}  // namespace
}  // namespace jitrace

BENCHMARK_MAIN();
