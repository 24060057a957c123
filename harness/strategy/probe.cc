#include "strategy/probe.h"

namespace jitrace {

void Probe::waiting(const Condition& condition, Nanoseconds bound) {
  Event event;
  event.kind = EventKind::waiting;
  event.a = static_cast<std::int64_t>(condition.kind);
  event.b = bound;
  event.attempt = condition.number;
  event.text = condition.path;
  note(std::move(event));
}

void Probe::wait_over(WaitEnd end) {
  Event event;
  event.kind = EventKind::wait_over;
  event.a = static_cast<std::int64_t>(end);
  note(std::move(event));
}

void Probe::file_op(std::string_view operation, std::string_view first, std::string_view second, int code) {
  Event event;
  event.kind = EventKind::file_op;
  event.a = code;
  event.text.reserve(operation.size() + first.size() + second.size() + 2);
  event.text.append(operation).append(" ").append(first);
  if (!second.empty()) event.text.append(" ").append(second);
  note(std::move(event));
}

void Probe::warned(std::string_view text) {
  Event event;
  event.kind = EventKind::warned;
  event.text = text;
  note(std::move(event));
}

}  // namespace jitrace
