#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_dir.h"
#include "event/board.h"
#include "process/process.h"
#include "worker/spec.h"

namespace jitrace {

// A board, a cache and a spec on the fake compiler, and real workers on them.
class WorkerBench {
 public:
  WorkerBench();

  WorkerSpec spec;                           // of the next worker; slot and scratch are set by start()
  Process start();                           // the worker waits for the start of its round
  void release() { board.start(1); }
  // Reads the board until an event fits or 10 s have passed; then the test fails and the event is empty.
  template <class Fits>
  Event wait_for(Fits fits);
  Event wait_for_point(Slot slot, Point point);
  const std::vector<Event>& events();        // all so far
  std::vector<std::string> points_of(Slot slot);

  TempDir directory;
  Board board;

 private:
  bool refresh();
  std::vector<Event> events_;
  std::uint64_t next_ = 0;
  Slot next_slot_ = 0;
};

WaitStatus ended(Process& process);          // waits; fails the test if that is not possible

template <class Fits>
Event WorkerBench::wait_for(Fits fits) {
  const Nanoseconds end = now() + seconds(60);
  std::size_t looked_at = 0;
  for (;;) {
    for (; looked_at < events_.size(); ++looked_at) {
      if (fits(events_[looked_at])) return events_[looked_at];
    }
    if (now() > end) return {};
    refresh();
  }
}

}  // namespace jitrace
