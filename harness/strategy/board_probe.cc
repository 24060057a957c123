#include "strategy/board_probe.h"

#include <unistd.h>

namespace jitrace {

void BoardProbe::reach(Point point, std::string_view path, std::uint64_t inode) {
  Event event;
  event.point = point;
  event.slot = slot_;
  event.key = key_;
  event.attempt = attempt_;
  event.b = static_cast<std::int64_t>(inode);
  event.text = path;
  // As os._exit(137) in a loader: nothing is given back, nobody below is told.
  if (board_.reach(std::move(event)) == Order::exit_137) ::_exit(137);
}

void BoardProbe::note(Event&& event) {
  event.slot = slot_;
  event.key = key_;
  board_.append(event);
}

void BoardProbe::tool_begin(ToolRole role, std::uint32_t pid, std::string_view arguments) {
  Event event;
  event.kind = EventKind::tool_begin;
  event.slot = tools_[pid] = board_.claim_slot();
  event.key = key_;
  event.pid = pid;
  event.attempt = attempt_;
  event.a = static_cast<std::int64_t>(role);
  event.b = ::getpid();
  event.text = arguments;
  board_.append(event);
}

void BoardProbe::tool_end(std::uint32_t pid, int raw_status) {
  Event event;
  event.kind = EventKind::tool_end;
  const auto tool = tools_.find(pid);
  event.slot = tool == tools_.end() ? driver_slot : tool->second;
  event.key = key_;
  event.pid = pid;
  event.attempt = attempt_;
  event.a = raw_status;
  board_.append(event);
}

}  // namespace jitrace
