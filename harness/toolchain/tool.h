#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "event/board.h"

namespace jitrace {

// How a tool (fake compiler, stage shim) speaks to the board. What it needs stands in the environment, so it crosses any
// shell or build tool between: JITRACE_BOARD (path), JITRACE_ATTEMPT (hex), JITRACE_KEY and JITRACE_SLOT (decimal; the
// builder's). Without JITRACE_BOARD, or with a board that is gone, it says nothing and waits nowhere.
class Tool {
 public:
  static Tool from_environment();

  std::uint64_t attempt() const { return attempt_; }
  std::uint16_t key() const { return key_; }
  std::uint16_t builder() const { return builder_; }
  bool listening() const { return board_.has_value(); }

  void begin(ToolRole role, std::string_view arguments);
  // At an armed point: waits. Ends the process with 137 where the driver says so.
  void reach(Point point, std::string_view path);
  enum class Output : std::int64_t { begin = 1, half = 2, done = 3 };
  void output(Output progress, std::string_view path);
  void end(int raw_status);

 private:
  Event event(EventKind kind, std::string_view text) const;
  std::optional<Board> board_;
  Slot slot_ = driver_slot;
  std::uint64_t attempt_ = 0;
  std::uint16_t key_ = 0;
  std::uint16_t builder_ = 0xffff;
};

std::string arguments_text(char** argv);

}  // namespace jitrace
