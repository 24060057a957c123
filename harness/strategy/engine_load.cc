#include "base/file.h"
#include "strategy/engine.h"
#include "strategy/messages.h"
#include "toolchain/artifact.h"

namespace jitrace {

GetEnd Engine::load_all(Work& work) {
  for (int time = 0; time < preset_.load.times; ++time) {
    probe_.reach(Point::load, files_.shown(work.layout.artifact), 0);
    const LoadResult result = load_once(work);
    if (result.code != LoadCode::ok)
      return {Outcome::failed, load_failure(preset_.family, result, work.layout.artifact)};
  }
  work.loaded = true;
  in_process_[work.key] = true;
  return {Outcome::none, {}};
}

LoadResult Engine::load_once(Work& work) {
  LoaderOptions options = job_.loader;
  options.kernel = work.subject->kernel;
  std::string path = work.layout.artifact;
  LoadResult result;
  if (preset_.load.own_copy) {
    // Nobody can pull these bytes away: they were verified as they were read.
    path = join(job_.scratch, "own" + std::to_string(work.key) + "." + base_of(work.layout.artifact));
    const Result<void> written = write_file(path, work.bytes);
    if (!written) {
      result.code = LoadCode::other;
      result.message = written.error().message();
    }
  } else {
    files_.announce("load", path, 0);
  }
  if (result.code == LoadCode::ok) {
    const Result<std::unique_ptr<Loader>> loader = make_loader(options);
    if (loader) {
      result = (*loader)->load(path);
    } else {
      result.code = LoadCode::other;
      result.message = loader.error().message();
    }
  }

  const ArtifactView view = view_artifact(result.bytes);
  const bool whole = !view.fake || view.whole;
  const bool equals = work.subject->reference == 0 || view.masked_digest == work.subject->reference;
  const bool intact = !result.bytes.empty() && whole && !view.mixed && equals;
  // Only the fake compiler's artifacts name key and arch; of the others the reference is one of this key and arch.
  const bool right_key = view.fake ? view.key == work.key && view.arch == job_.arch : intact;
  // Without a lock everybody publishes over everybody, and each of them is as good as the own one.
  const bool anybodys = preset_.locks.empty() && preset_.publish == Publish::rename_file;
  const std::uint64_t own = anybodys ? 0 : work.attempt;
  const std::uint64_t promised = own != 0 ? own : work.publisher;
  const bool right_stamp = view.attempt != 0 && (promised == 0 || view.attempt == promised);
  Event event;
  event.kind = EventKind::loaded;
  event.attempt = view.attempt;
  event.a = static_cast<std::int64_t>(result.code);
  if (intact) event.b |= load_intact;
  if (right_key) event.b |= load_right_key;
  if (right_stamp) event.b |= load_right_stamp;
  if (result.simulated) event.b |= load_simulated;
  event.text = result.message;
  probe_.note(std::move(event));
  return result;
}

}  // namespace jitrace
