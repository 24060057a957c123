#include "loader/loader.h"
#include "verdict/oracles.h"
#include "verdict/signatures.h"

namespace jitrace {
namespace {

// The newest attempt of this worker that compiled the key to success before the load.
const AttemptFact* own_build(const TrialView& view, const LoadFact& load) {
  const AttemptFact* own = nullptr;
  for (const AttemptFact& attempt : view.attempts) {
    if (attempt.slot == load.slot && attempt.key == load.key && attempt.succeeded() && *attempt.end <= load.stamp) {
      own = &attempt;
    }
  }
  return own;
}

// A whole artifact of the right key: is its maker one that the loader was promised? The worker's own flag says yes
// where it knows. Otherwise only a contradiction in the history counts.
bool foreign_maker(const TrialView& view, const LoadFact& load) {
  if ((load.flags & load_right_stamp) != 0 || load.attempt == 0) return false;
  const AttemptFact* maker = view.attempt(load.attempt);
  if (maker == nullptr) return view.plan.before.empty();  // an entry of an earlier run has a stamp of its own
  if (maker->key != load.key) return true;
  const WorkerFact* worker = view.worker(load.slot);
  if (worker == nullptr || worker->preset == nullptr) return false;
  const Preset& preset = *worker->preset;
  if (preset.locks.empty() || preset.builds_per_key != 1 || preset.publish != Publish::in_place) return false;
  const AttemptFact* own = own_build(view, load);
  return own != nullptr && own->id != load.attempt && compiled_afresh(view, *own);
}

}  // namespace

bool compiled_afresh(const TrialView& view, const AttemptFact& attempt) {
  for (const Event& event : view.history.events) {
    if (event.kind == EventKind::reached && event.point == Point::compile && event.attempt == attempt.id) return true;
  }
  return false;
}

LoadKind kind_of(const TrialView& view, const LoadFact& load) {
  const auto says = [&](std::string_view word) { return load.message.find(word) != std::string::npos; };
  switch (static_cast<LoadCode>(load.code)) {
    case LoadCode::ok: break;
    case LoadCode::file_not_found:
    case LoadCode::cannot_open: return LoadKind::missing;
    case LoadCode::no_binary_for_gpu: return LoadKind::foreign;
    case LoadCode::cuobjdump_failed: return says("No such file") ? LoadKind::missing : LoadKind::torn;
    case LoadCode::other: {
      const auto signature = classify(load.message);
      return signature && signature->kind == "missing" ? LoadKind::missing : LoadKind::torn;
    }
    case LoadCode::invalid_value:
    case LoadCode::invalid_image:
    case LoadCode::invalid_ptx:
    case LoadCode::not_found:
    case LoadCode::wrong_kernel_count:
    case LoadCode::too_short:
    case LoadCode::invalid_elf:
    case LoadCode::bus_error:
    case LoadCode::crashed:
    case LoadCode::wrong_numbers: return LoadKind::torn;
  }
  if (says("mixed") || says("foreign") || says("wrong arch") || says("wrong key")) return LoadKind::foreign;
  if ((load.flags & load_right_key) == 0) {
    const AttemptFact* maker = load.attempt == 0 ? nullptr : view.attempt(load.attempt);
    const bool others = (load.flags & load_intact) != 0 || (maker != nullptr && maker->key != load.key);
    return others ? LoadKind::foreign : LoadKind::torn;
  }
  if ((load.flags & load_intact) == 0) return LoadKind::torn;
  return foreign_maker(view, load) ? LoadKind::foreign : LoadKind::fine;
}

}  // namespace jitrace
