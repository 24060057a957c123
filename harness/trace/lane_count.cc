// The lane's other tracer.
#include "trace/lane.h"
#include "trace/lane_parts.h"
#include "trace/plain_count.h"

namespace jitrace {

// The program alone, to the end of its tree, as in a recording.
Result<void> TracedLane::counted_round() {
  round_ = 1;
  note_round();
  TRY_ASSIGN(const WorkerCommand worker, command_of(workers_++));
  TRY_ASSIGN(Scope scope, Scope::create(plan_.cache, paths_beside(), plan_.around));
  scope.set_temporary(temporary());
  TRY_ASSIGN(const PlainCount counted, plain_count(worker.command, std::move(scope), plan_.limit));
  for (const auto& [what, times] : counted.by_what) {
    Event event = event_of(EventKind::counted, what);
    event.a = static_cast<std::int64_t>(times);
    event.b = counted.again.contains(what) ? 1 : 0;
    note(std::move(event));
  }
  const bool well = counted.end && counted.end->is_exit(0);
  Event outcome = event_of(EventKind::outcome, last_words(0));
  outcome.slot = 0;
  outcome.a = static_cast<std::int64_t>(well ? Outcome::served : Outcome::failed);
  if (!well && counted.end) outcome.text = counted.end->describe() + (outcome.text.empty() ? "" : ": " + outcome.text);
  note(std::move(outcome));
  return {};
}

}  // namespace jitrace
