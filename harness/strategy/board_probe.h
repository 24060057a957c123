#pragma once

#include <map>

#include "event/board.h"
#include "strategy/probe.h"

namespace jitrace {

// The probe of a worker: everything goes to the board of its trial, and gates hold it there.
class BoardProbe final : public Probe {
 public:
  BoardProbe(Board& board, Slot slot) : board_(board), slot_(slot) {}

  void reach(Point point, std::string_view path, std::uint64_t inode) override;
  void note(Event&& event) override;
  void tool_begin(ToolRole role, std::uint32_t pid, std::string_view arguments) override;
  void tool_end(std::uint32_t pid, int raw_status) override;
  void set_key(std::uint16_t key) override { key_ = key; }
  void set_attempt(std::uint64_t attempt) override { attempt_ = attempt; }

 private:
  Board& board_;
  Slot slot_;
  std::uint16_t key_ = 0;
  std::uint64_t attempt_ = 0;
  std::map<std::uint32_t, Slot> tools_;  // by pid
};

}  // namespace jitrace
