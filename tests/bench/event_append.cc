// What an event costs the worker that writes it, first touch of the board's pages included, and what a point costs that
// nobody has armed.
#include <benchmark/benchmark.h>

#include "event/board.h"
#include "scratch.h"

namespace jitrace {
namespace {

constexpr std::uint32_t records = 1 << 17;

template <class Write>
void write_events(benchmark::State& state, Write write) {
  const TempDir dir = scratch();
  int boards = 0;
  const auto fresh = [&] {
    const std::string path = join(dir.path(), "board" + std::to_string(++boards));
    Board board = std::move(Board::create(path, {16, records}, 8).value());
    (void)remove_file(path);  // the mapping stays; the disk does not fill
    return board;
  };
  Board board = fresh();
  std::uint32_t used = 0;
  for (auto _ : state) {
    if (++used == records) {
      state.PauseTiming();
      board = fresh();
      used = 0;
      state.ResumeTiming();
    }
    write(board);
  }
  state.SetItemsProcessed(state.iterations());
}

void append_event(benchmark::State& state) {
  Event event;
  event.kind = EventKind::file_op;
  event.slot = 3;
  event.text = "rename /cache/entry/.tmp-12345/kernel.cubin /cache/entry/kernel.cubin";
  write_events(state, [&](Board& board) {
    event.stamp = 0;  // every event of a worker is a fresh one: it is stamped, and asks for its pid
    event.pid = 0;
    board.append(event);
  });
}

void pass_unarmed_point(benchmark::State& state) {
  Event event;
  event.slot = 3;
  event.point = Point::publish;
  write_events(state, [&](Board& board) { benchmark::DoNotOptimize(board.reach(event)); });
}

BENCHMARK(append_event);
BENCHMARK(pass_unarmed_point);

}  // namespace
}  // namespace jitrace

BENCHMARK_MAIN();
