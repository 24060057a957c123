#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "process/proc.h"
#include "strategy/engine.h"
#include "strategy/messages.h"
#include "strategy/publish.h"
#include "strategy/run/run.h"

namespace jitrace {
namespace {

GetEnd failed(const Error& error) { return {Outcome::failed, error.message()}; }

// 96 bits and a pid, as DeepGEMM names its private files.
std::string deepgemm_name() {
  std::string name = std::to_string(::getpid());
  for (int i = 0; i < 3; ++i) name += "-" + hex(random_bits()).substr(8);
  return name;
}

// 128 bits, then who made it: the sweep of leftovers asks whether that process lives.
std::string sound_name() {
  const std::optional<ProcStat> self = proc_stat(::getpid());
  return hex(random_bits()) + hex(random_bits()) + "." + std::to_string(::getpid()) + "." +
         std::to_string(self ? self->start_ticks : 0);
}

bool owner_lives(const std::string& name) {
  const std::vector<std::string> parts = split(name, '.');
  if (parts.size() != 3) return false;
  const std::optional<ProcStat> owner = proc_stat(static_cast<pid_t>(parse_int(parts[1]).value_or(0)));
  return owner && owner->start_ticks == static_cast<std::uint64_t>(parse_int(parts[2]).value_or(-1));
}

}  // namespace

Result<void> Engine::write_source(Work& work, const std::string& source) {
  probe_.reach(Point::write_source, files_.shown(source), 0);
  const std::string& text = work.subject->source;
  if (preset_.run == RunKind::ninja) {
    TRY(files_.write_if_changed(source, text));
    return files_.write_if_changed(join(work.layout.entry, "build.ninja"), ninja_file(work.layout, job_));
  }
  if (preset_.place == Place::private_dir) {
    TRY(files_.write(source, text));
    // DeepGEMM's put() syncs what it writes and does not look at the result; `sound` syncs everything at its end.
    if (preset_.family == Family::deepgemm) [[maybe_unused]] const Result<void> synced = files_.sync(source);
    return {};
  }
  const std::string temporary = join(work.layout.temporary, deepgemm_name());
  TRY(files_.make_dirs(work.layout.temporary));
  TRY(files_.write(temporary, text));
  return rename_onto(temporary, source, files_, job_);
}

GetEnd Engine::build(Work& work) {
  const Layout& layout = work.layout;
  const bool is_private = preset_.place == Place::private_dir;
  work.attempt = work.order != nullptr ? work.order->attempt : next_attempt();
  probe_.set_attempt(work.attempt);
  if (is_private) {
    work.private_dir = join(layout.temporary, preset_.family == Family::sound ? sound_name() : deepgemm_name());
  }
  const std::string directory = is_private ? work.private_dir : layout.entry;
  // With a lock inside the entry the directory was made before the lock.
  const bool made_before = !preset_.locks.empty() && preset_.locks[0].file == LockFile::inside_entry;
  const bool made_for_inner = preset_.locks.size() > 1;
  if (!made_before && !made_for_inner) {
    probe_.reach(Point::make_dir, files_.shown(directory), 0);
    if (Result<void> made = files_.make_dirs(directory); !made) return failed(made.error());
  }

  Build build;
  build.attempt = work.attempt;
  build.key = work.key;
  build.source_text = work.subject->source;
  build.source = is_private ? join(directory, base_of(layout.source)) : layout.source;
  build.object = layout.object;
  build.output = is_private ? join(directory, base_of(layout.artifact)) : layout.artifact;
  if (preset_.publish == Publish::rename_file) build.output = join(layout.temporary, deepgemm_name());
  if (preset_.run == RunKind::ninja) build.directory = layout.entry;
  if (is_private && preset_.run == RunKind::popen) build.directory = layout.temporary;
  build.scratch = join(job_.scratch, "a" + hex(work.attempt));
  build.kind = layout.kind;
  build.status = preset_.status;
  build.orphans = preset_.orphans;
  for (const auto& lock : work.held) {
    if (lock->descriptor() >= 0) build.inherit.push_back(lock->descriptor());
  }
  build.started = [&work](pid_t pid) {
    for (const auto& lock : work.held) lock->note_compiler(pid);
    if (work.order != nullptr && work.order->started) work.order->started(pid);
  };
  if (work.order != nullptr) {
    build.argv = work.order->argv;
    build.environment = work.order->environment;
    build.directory = work.order->directory;
  }

  if (Result<void> written = write_source(work, build.source); !written) return failed(written.error());
  if (preset_.unlock == Unlock::before_publish && preset_.publish == Publish::in_place) release(work);

  const Nanoseconds started = now();
  const Result<BuildEnd> ran = run_compiler(build);
  if (!ran) return {Outcome::failed, build_failure(preset_.family, work.subject->kernel, ran.error().message())};
  for (const auto& lock : work.held) lock->note_compile_time(now() - started);
  if (work.order != nullptr && work.order->ended) work.order->ended(ran->raw_status);
  if (!ran->ok) {
    if (preset_.family == Family::sound) [[maybe_unused]] const auto gone = files_.remove_tree(work.private_dir);
    return {Outcome::failed, build_failure(preset_.family, work.subject->kernel, ran->output)};
  }
  work.built = !ran->nothing_to_do;
  if (ran->nothing_to_do) work.attempt = 0;
  return publish(work, build.output);
}

Result<BuildEnd> Engine::run_compiler(const Build& build) {
  probe_.reach(Point::spawn, files_.shown(build.output), 0);
  Event begin;
  begin.kind = EventKind::attempt_begin;
  begin.attempt = build.attempt;
  begin.text = job_.toolchain.name;
  probe_.note(std::move(begin));
  Result<BuildEnd> ran = run_build(run_of(preset_, job_.toolchain.name), build, files_, job_);
  Event end;
  end.kind = EventKind::attempt_end;
  end.attempt = build.attempt;
  end.a = -1;
  if (ran) end.a = ran->raw_status >= 0 ? ran->raw_status : (ran->ok ? 0 : 1 << 8);
  end.b = ran && ran->nothing_to_do ? 1 : 0;
  end.text = ran ? ran->output : ran.error().message();
  probe_.note(std::move(end));
  return ran;
}

GetEnd Engine::publish(Work& work, const std::string& output) {
  switch (preset_.publish) {
    case Publish::in_place: return {Outcome::none, {}};
    case Publish::rename_file:
      if (preset_.unlock == Unlock::before_publish) release(work);
      return publish_file(work, output);
    case Publish::rename_dir: {
      if (Result<void> sealed = seal_private_dir(work); !sealed) return failed(sealed.error());
      if (preset_.unlock == Unlock::before_publish) release(work);
      GetEnd end = publish_dir(work);
      if (preset_.family == Family::sound) sweep_private_dirs(work);
      return end;
    }
  }
  return {Outcome::none, {}};
}

GetEnd Engine::publish_file(Work& work, const std::string& output) {
  probe_.reach(Point::publish, files_.shown(work.layout.artifact), 0);
  const Result<void> renamed = rename_onto(output, work.layout.artifact, files_, job_);
  if (!renamed) return {Outcome::failed, rename_failure(output, work.layout.artifact, renamed.error().code)};
  return {Outcome::none, {}};
}

// Writes the manifest, where there is one, and pushes everything to the disk.
Result<void> Engine::seal_private_dir(Work& work) {
  const std::string source = join(work.private_dir, base_of(work.layout.source));
  const std::string artifact = join(work.private_dir, base_of(work.layout.artifact));
  std::vector<std::string> written = {source, artifact};
  if (preset_.check == Check::digest) {
    TRY_ASSIGN(work.bytes, files_.read(artifact));
    probe_.reach(Point::publish_meta, files_.shown(work.private_dir), 0);
    ManifestSubject subject;
    subject.source = work.subject->source;
    subject.artifact = work.bytes;
    subject.source_name = base_of(source);
    subject.artifact_name = base_of(artifact);
    subject.kernel = work.subject->kernel;
    subject.arch = job_.arch;
    subject.attempt = work.attempt;
    const std::string manifest = join(work.private_dir, base_of(work.layout.manifest));
    TRY(files_.write(manifest, manifest_text(subject)));
    written.push_back(manifest);
  }
  probe_.reach(Point::sync, files_.shown(work.private_dir), 0);
  written.push_back(work.private_dir);
  for (const std::string& path : written) {
    const Result<void> synced = files_.sync(path);
    if (!synced && preset_.family != Family::deepgemm) return synced;
  }
  return {};
}

GetEnd Engine::publish_dir(Work& work) {
  const std::string& entry = work.layout.entry;
  if (Result<void> made = files_.make_dirs(parent_of(entry)); !made) return failed(made.error());
  probe_.reach(Point::publish, files_.shown(entry), 0);
  const Result<void> renamed = files_.rename(work.private_dir, entry);
  if (renamed) return {Outcome::none, {}};
  if (preset_.check != Check::digest) {
    // DeepGEMM: whatever the error was, the existing one is used, and if there is none the assertion says little.
    [[maybe_unused]] const Result<void> gone = files_.remove_tree(work.private_dir);
    work.attempt = 0;
    const Looked looked = look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_);
    if (looked.look == Look::incomplete) return {Outcome::failed, corrupted_directory(entry)};
    if (looked.look == Look::miss) {
      return {Outcome::failed, "Assertion error (csrc/jit/compiler.hpp:147): runtime != nullptr"};
    }
    return {Outcome::none, {}};
  }
  // The name is taken. By a sound entry: that one stays, and the own copy is as good. By anything else: it leaves
  // first.
  if (look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_).look != Look::hit) {
    const std::string aside = join(work.layout.temporary, "gone." + hex(random_bits()));
    const bool moved = static_cast<bool>(files_.rename(entry, aside));
    if (moved && files_.rename(work.private_dir, entry)) {
      [[maybe_unused]] const Result<void> gone = files_.remove_tree(aside);
      return {Outcome::none, {}};
    }
    if (moved) [[maybe_unused]] const Result<void> gone = files_.remove_tree(aside);
  }
  [[maybe_unused]] const Result<void> gone = files_.remove_tree(work.private_dir);
  return {Outcome::none, {}};
}

// What processes that ended in mid-build have left: older than a day, and nobody's.
void Engine::sweep_private_dirs(const Work& work) {
  constexpr std::int64_t day = 24 * 60 * 60;
  const auto names = files_.list(work.layout.temporary);
  if (!names) return;
  const std::int64_t today = ::time(nullptr);
  for (const std::string& name : *names) {
    const std::string path = join(work.layout.temporary, name);
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0 || today - s.st_mtime < day || owner_lives(name)) continue;
    [[maybe_unused]] const Result<void> gone = files_.remove_tree(path);
  }
}

}  // namespace jitrace
