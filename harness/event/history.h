#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "event/event.h"

namespace jitrace {

// One file of the cache as the trial left it.
struct SnapshotEntry {
  std::string path;             // relative to the cache; a directory ends in '/'
  std::uint64_t size = 0;
  std::uint64_t digest = 0;     // of all bytes
  std::uint64_t attempt = 0;    // the stamp in it, 0 if it holds none
  std::string state;            // "" for what is no artifact; else intact, torn or foreign, with a clause after a colon
};

// The only thing that leaves a trial. Verdicts and reports read histories, never live processes.
struct History {
  std::string plan;                     // the plan's text form
  std::string cache;                    // the directory the trial used
  std::vector<Event> events;            // in the order of the board
  std::vector<SnapshotEntry> snapshot;  // after the last round
  std::vector<SnapshotEntry> residue;   // what lay in the trial's temporary directory at the end
  std::uint64_t torn_records = 0;
  std::string failure;                  // why the harness could not carry the plan out; then the trial is inconclusive

  std::string text() const;             // versioned, a line an event; names every field of it
  static Result<History> parse(std::string_view text);
};

}  // namespace jitrace
