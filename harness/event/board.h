#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "event/event.h"

namespace jitrace {

// What the driver tells a process that waits at a gate. Kills and stops are signals: they need no cooperation.
enum class Order : std::uint32_t { none, wait, go, exit_137 };

// The shared memory of one trial: a log that every process of the trial appends to, and the gates at which they wait.
// It is a mapped file, so what a process wrote before SIGKILL stays; a record that was cut by the kill is recognised by
// its checksum. Appending takes a place by one atomic add, so the order of the log is an order that all agree on.
//
// File: header, `slots` gates of 64 bytes, `records` of 256 bytes. Beside it lies `<path>.bell`, a FIFO: who needs the
// driver writes a byte there, and the driver polls it. The driver creates the board; everyone else attaches by path
// (JITRACE_BOARD in the environment).
class Board {
 public:
  struct Size {
    std::uint32_t slots = 4096;
    std::uint32_t records = 65536;
  };

  static Result<Board> create(const std::string& path, Size size, std::uint32_t worker_slots);
  static Result<Board> attach(const std::string& path);
  Board(Board&& other) noexcept;
  Board& operator=(Board&& other) noexcept;
  ~Board();

  const std::string& path() const { return path_; }

  // Stamps the event with now() and this process's pid unless they are set. Never blocks, never allocates, may be
  // called between fork and exec (not in a vfork child: it would sign with its parent's pid). A full log drops the event and remembers that it did.
  void append(Event& event);
  void append(Event&& event) { append(event); }
  bool overflowed() const;

  // Appends `reached` and, where the point is armed, waits there for the driver's order. Returns `go` or `exit_137`.
  Order reach(Event event);
  // Appends `ready`, waits for the start of `round`, appends `released`.
  void wait_for_start(Slot slot, std::uint32_t round);
  // A slot for a tool, counted up from the last worker's; driver_slot when there is none left.
  Slot claim_slot();
  void ring();

  // --- The driver's side ---
  void arm(Point point);
  void disarm(Point point);
  void start(std::uint32_t round);
  void order(Slot slot, Order order);  // wakes the process that waits in that slot
  const Fd& bell() const { return bell_; }
  void clear_bell();  // before reading the log, never after

  // The records from `*next` on, whole and in order, up to the first that is still being written. `*next` moves on.
  // With Torn::skip (everybody who could finish it is dead) torn ones are counted and passed over.
  enum class Torn { stop, skip };
  std::vector<Event> read(std::uint64_t* next, Torn torn = Torn::stop);
  std::uint64_t torn() const { return torn_; }

 private:
  struct Header;
  struct Gate;
  struct Record;
  Board(std::string path, void* memory, std::size_t bytes, Fd bell);
  Header& header() const;
  Gate& gate(Slot slot) const;
  Record& record(std::uint64_t index) const;

  std::string path_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Fd bell_;
  std::uint64_t torn_ = 0;
};

}  // namespace jitrace
