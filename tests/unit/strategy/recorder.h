#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_dir.h"
#include "strategy/engine.h"
#include "strategy/probe.h"

namespace jitrace {

// Keeps what a strategy says as lines: "@point path", "+attempt", "-attempt", "op …", "wait …", "over …", "warn …",
// "loaded code", "tool role". Random names are written as *.
class Recorder final : public Probe {
 public:
  void reach(Point point, std::string_view path, std::uint64_t inode) override;
  void note(Event&& event) override;
  void tool_begin(ToolRole role, std::uint32_t pid, std::string_view arguments) override;
  void tool_end(std::uint32_t, int) override {}
  void set_key(std::uint16_t) override {}
  void set_attempt(std::uint64_t attempt) override { attempts.push_back(attempt); }

  std::vector<std::string> take();                                    // all lines so far; starts anew
  std::vector<std::string> points() const;                            // names, in order
  std::vector<std::string> lines_with(const std::string& prefix) const;

  std::vector<std::uint64_t> attempts;
  std::vector<Event> events;
  std::function<void(Point)> at_point;                                // runs at every point

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A job on the fake compiler in a fresh directory.
struct Bench {
  explicit Bench(int keys = 1);
  TempDir directory;
  Job job;
};

std::string masked(std::string text);  // hex names of 8 and more digits, pids and the like become *

}  // namespace jitrace
