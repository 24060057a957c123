#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "verdict/oracles.h"

namespace jitrace {
namespace {

// The first attempt of somebody else for this key that began once `builder` was gone.
const AttemptFact* successor_of(const TrialView& view, const AttemptFact& orphaned, Nanoseconds gone) {
  const AttemptFact* first = nullptr;
  for (const AttemptFact& attempt : view.attempts) {
    if (attempt.key != orphaned.key || attempt.slot == orphaned.slot || attempt.begin < gone) continue;
    if (first == nullptr || attempt.begin < first->begin) first = &attempt;
  }
  return first;
}

// A private place has one writer by its nature; a path that two attempts wrote, or that a preset compiles to in place,
// is the entry's own.
bool shared_path(const TrialView& view, const OutputFact& output, const AttemptFact& by) {
  for (const OutputFact& other : view.outputs) {
    if (other.attempt != output.attempt && other.path == output.path) return true;
  }
  const WorkerFact* builder = view.worker(by.slot);
  return builder != nullptr && builder->preset != nullptr && builder->preset->place == Place::shared &&
         builder->preset->publish == Publish::in_place;
}

}  // namespace

void find_orphan_writes(const TrialView& view, TrialVerdict& verdict) {
  std::set<std::uint64_t> told;
  const auto tell = [&](const AttemptFact& orphaned, const AttemptFact& successor, std::string first_line) {
    if (!told.insert(orphaned.id).second) return;
    Finding finding;
    finding.kind = FindingClass::orphan_write;
    finding.round = view.round_at(successor.begin);
    finding.slot = successor.slot;
    finding.key = orphaned.key;
    finding.evidence = {std::move(first_line),
                        fmt::format("its builder, {}, was gone at {}; {} started to build {} at {}",
                                    view.who(orphaned.slot), view.when(*view.gone(orphaned.slot)),
                                    view.who(successor.slot), view.kernel(orphaned.key), view.when(successor.begin))};
    verdict.findings.push_back(std::move(finding));
  };
  for (const OutputFact& output : view.outputs) {
    const AttemptFact* orphaned = view.attempt(output.attempt);
    if (orphaned == nullptr) continue;
    const auto gone = view.gone(orphaned->slot);
    if (!gone || output.stamp <= *gone) continue;
    const AttemptFact* successor = successor_of(view, *orphaned, *gone);
    if (successor == nullptr || output.stamp <= successor->begin || !shared_path(view, output, *orphaned)) continue;
    tell(*orphaned, *successor,
         fmt::format("the compiler of attempt {:016x} wrote {} at {}", orphaned->id, output.path,
                     view.when(output.stamp)));
  }
  // Weaker, and all there is where no shim stood before the writer: the orphan's stamp in what was loaded after the
  // successor had built. One that only linked what the orphan had compiled in time has that stamp in it by right.
  const bool shims = std::any_of(view.history.events.begin(), view.history.events.end(), [](const Event& event) {
    return event.kind == EventKind::reached && event.point == Point::compile;
  });
  for (const LoadFact& load : view.loads) {
    const AttemptFact* orphaned = load.attempt == 0 ? nullptr : view.attempt(load.attempt);
    if (orphaned == nullptr || orphaned->end) continue;
    const auto gone = view.gone(orphaned->slot);
    if (!gone) continue;
    const AttemptFact* successor = successor_of(view, *orphaned, *gone);
    if (successor == nullptr || !successor->succeeded() || *successor->end >= load.stamp) continue;
    if (shims && !compiled_afresh(view, *successor)) continue;
    if (!shared_path(view, OutputFact{load.stamp, load.attempt, 0, ""}, *orphaned)) continue;
    tell(*orphaned, *successor,
         fmt::format("{} loaded the stamp of attempt {:016x} at {}, after attempt {:016x} had ended",
                     view.who(load.slot), orphaned->id, view.when(load.stamp), successor->id));
  }
}

}  // namespace jitrace
