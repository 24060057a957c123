#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"

namespace jitrace {

// Tells a process that polls without a pause from one that works. Both run; the first makes the same calls again and again
// and nothing comes of them. Counts, over the whole tree, the calls at the cache since anything was new: a change, a path,
// an answer. Once there are enough of them for long enough, they come in rounds: a round is over after a few more, and
// then whoever looked in it counts as one that only waits.
//
// What a thread does between two looks is not seen but by the CPU time that it takes. One that works there for less than
// `work`, tens of thousands of times, and asks the same each time, is taken for one that waits.
class Spinning {
 public:
  struct Bounds {
    std::uint64_t calls = 50'000;           // before the first round,
    Nanoseconds patience = seconds(1);      // and so much real time
    std::uint64_t round = 16;               // calls of a round
    std::uint64_t program = 100;            // a program of its own stands for so many, as it costs as many
    Nanoseconds work = 100'000;             // of CPU time a call: more is no mere look
  };
  Spinning() = default;
  explicit Spinning(Bounds bounds) : bounds_(bounds) {}

  // A look at the cache, with 0 or the error that it got. `call` distinguishes it from others.
  void looked(pid_t thread, std::size_t call, std::int64_t error);
  void answered() { ++calls_; }  // any call at the cache
  // A call that names something outside of the cache, or a new program.
  void called(std::size_t call);
  // A name for a try at a lock: in the middle of one, which is nothing but a look when it is over, no round ends.
  void made(const std::string& name) { tries_.insert(name); }
  void took_back(const std::string& name) { tries_.erase(name); }
  void started_program() { calls_ += bounds_.program; }
  void progressed();

  // A round is over: it is worth while to ask who runs besides those who spin.
  bool round_is_over() const { return over_ && tries_.empty(); }
  bool spins(pid_t thread) const { return round_is_over() && lookers_.contains(thread); }
  // Somebody else runs: asked again later, and ever more seldom.
  void not_yet();
  // Whether those who wait for a lock have tried again in this round; from now on they have.
  bool have_others_tried();
  std::uint64_t looks() const { return looks_; }  // of this round
  void next_round();

 private:
  struct Looker {
    std::uint64_t calls = 0;                // as there were at its first look in this round,
    std::optional<Nanoseconds> cpu;         // and its CPU time then
  };
  bool somebody_works() const;

  Bounds bounds_;
  std::unordered_set<std::size_t> known_;   // calls and answers so far
  Nanoseconds since_ = 0;                   // real time of the last progress
  std::uint64_t calls_ = 0;                 // since then, at the cache
  std::uint64_t began_ = 0, wanted_ = 0;    // how many there were as this round began, and there are to be when it is over
  std::uint64_t looks_ = 0;                 // of this round
  std::size_t anchor_ = 0;                  // a round ends where it began, in the middle of nothing
  std::unordered_set<std::string> tries_;   // names made in this round and still there
  std::unordered_map<pid_t, Looker> lookers_;  // of this round
  bool over_ = false;
  bool tried_ = false;
};

// Which call it is.
std::size_t call_key(const std::string& what, const std::string& path, const std::string& path2);

}  // namespace jitrace
