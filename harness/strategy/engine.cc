#include "strategy/engine.h"

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "strategy/messages.h"

namespace jitrace {

Engine::Engine(const Preset& preset, const Job& job, Probe& probe)
    : preset_(preset), job_(job), probe_(probe), files_(probe, job.root), in_process_(job.keys.size(), false) {}

Engine::Work Engine::work_on(std::uint16_t key) {
  Work work;
  work.key = key;
  work.subject = &job_.keys[key];
  work.layout = layout_of(preset_, job_.root, work.subject->kernel, job_.arch, job_.toolchain.kind);
  probe_.set_key(key);
  probe_.set_attempt(0);
  return work;
}

Engine::Work Engine::begin(std::uint16_t key) {
  Work work = work_on(key);
  Event event;
  event.kind = EventKind::get_begin;
  probe_.note(std::move(event));
  return work;
}

GetEnd Engine::finish(const Work& work, GetEnd end) {
  if (end.outcome == Outcome::none) end.outcome = work.built ? Outcome::built : Outcome::served;
  Event event;
  event.kind = EventKind::get_end;
  event.a = static_cast<std::int64_t>(end.outcome);
  event.text = end.message;
  probe_.note(std::move(event));
  return end;
}

GetEnd Engine::get(std::uint16_t key) {
  Work work = begin(key);
  if (in_process_[key]) return finish(work, {Outcome::served, {}});
  GetEnd end = obtain(work);
  return finish(work, std::move(end));
}

GetEnd Engine::obtain(Work& work) {
  if (preset_.load.probe_first) {
    probe_.reach(Point::probe, files_.shown(work.layout.entry), 0);
    Looked looked = look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_);
    if (looked.look == Look::incomplete) return {Outcome::failed, corrupted_directory(work.layout.entry)};
    if (take_hit(work, std::move(looked))) return load_all(work);
  }
  if (!preset_.locks.empty() && preset_.locks[0].kind == LockKind::daemon) return obtain_from_daemon(work);
  GetEnd end = get_through(work, 0);
  if (end.outcome == Outcome::none && !work.loaded) end = load_all(work);
  return end;
}

// Takes the locks from `level` on, outermost first, and builds inside them. Outcome::none: nothing went wrong so far.
GetEnd Engine::get_through(Work& work, std::size_t level) {
  if (level == preset_.locks.size()) return build(work);
  const LockChoice& choice = preset_.locks[level];
  if (choice.kind == LockKind::none) return get_through(work, level + 1);
  const std::string& path = work.layout.locks[level];
  // The directory that a lock file lies in is made before the lock is taken; for a lock inside the entry that is the
  // system's own make_dir.
  if (choice.file == LockFile::inside_entry && level == 0) {
    probe_.reach(Point::make_dir, files_.shown(work.layout.entry), 0);
  }
  if (level == 0 || !files_.exists(parent_of(path))) {
    if (level != 0) probe_.reach(Point::make_dir, files_.shown(parent_of(path)), 0);
    if (Result<void> made = files_.make_dirs(parent_of(path)); !made) return {Outcome::failed, made.error().message()};
  }
  std::unique_ptr<Lock> lock = make_lock(choice, path, files_, job_, baseline());
  switch (lock->acquire()) {
    case Acquired::owner: break;
    case Acquired::loser: return {Outcome::none, {}};  // the winner has built; on to the load
    case Acquired::at_bound: return at_bound(work, level, *lock);
    case Acquired::failed:
      if (choice.on_error == LockError::go_on_unlocked) return get_through(work, level + 1);
      return {Outcome::failed, lock->reason()};
  }
  const Lock* mine = lock.get();
  work.held.push_back(std::move(lock));
  GetEnd end = under_lock(work, level);
  // A planted bug may have given it back already.
  if (!work.held.empty() && work.held.back().get() == mine) {
    work.held.back()->release();
    // torch removes its baton in a `finally` that nobody guards: if somebody has removed it before, that is the
    // exception which the user sees.
    if (end.outcome == Outcome::none && !mine->reason().empty()) end = {Outcome::failed, mine->reason()};
    work.held.pop_back();
  }
  return end;
}

GetEnd Engine::under_lock(Work& work, std::size_t level) {
  GetEnd end{Outcome::none, {}};
  bool hit = false;
  if (level == 0 && preset_.recheck != Recheck::no) hit = recheck(work, &end);
  if (end.outcome != Outcome::none) return end;
  if (!hit) {
    sweep_baton(work, level);
    end = get_through(work, level + 1);
  }
  if (level == 0 && preset_.load.under_lock && !work.loaded && end.outcome == Outcome::none) end = load_all(work);
  return end;
}

GetEnd Engine::at_bound(Work& work, std::size_t level, const Lock& lock) {
  const std::string message = lock_timeout(preset_.family, lock.bound());
  switch (preset_.locks[level].at_bound) {
    case AtBound::fall_back: return {Outcome::fell_back, message};
    case AtBound::go_on_unlocked: return get_through(work, level + 1);
    case AtBound::wait_on:
    case AtBound::fail: break;
  }
  return {Outcome::failed, message};
}

// True if there is nothing left to build. `end` is set where the look itself ends the get.
bool Engine::recheck(Work& work, GetEnd* end) {
  probe_.reach(Point::recheck, files_.shown(work.layout.entry), 0);
  if (preset_.recheck == Recheck::load) {
    // GPTQModel: is the file there, and does it load? An error of the load means that it has to be built.
    if (!files_.exists(work.layout.artifact)) return false;
    work.loaded = load_once(work).code == LoadCode::ok;
    in_process_[work.key] = work.loaded;
    return work.loaded;
  }
  if (preset_.check == Check::digest) {
    // Reading the directory makes an NFS client drop what it remembers of names that were not there.
    [[maybe_unused]] const auto names = files_.list(parent_of(work.layout.entry));
  }
  Looked looked = look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_);
  if (looked.look == Look::incomplete) *end = {Outcome::failed, corrupted_directory(work.layout.entry)};
  return take_hit(work, std::move(looked));
}

bool Engine::take_hit(Work& work, Looked looked) {
  if (looked.look != Look::hit) return false;
  work.bytes = std::move(looked.bytes);
  work.publisher = looked.attempt;
  return true;
}

// Holding the outer lock is taken as proof that no live process builds here, so a baton that lies there is a dead
// one's. The inner lock of torch >= 2.14 is a flock on a file of the same name: removing that would let two in.
void Engine::sweep_baton(Work& work, std::size_t level) {
  const LockChoice& choice = preset_.locks[level];
  if (choice.sweep == SweepBaton::no || level + 1 >= preset_.locks.size()) return;
  if (choice.gate == SweepGate::only_over_baton && preset_.locks[level + 1].kind != LockKind::baton) return;
  const std::string& path = work.layout.locks[level + 1];
  if (!files_.exists(path)) return;
  if (Result<void> gone = files_.unlink(path); gone) probe_.warned(stale_baton_warning(path));
}

void Engine::release(Work& work) {
  for (; !work.held.empty(); work.held.pop_back()) work.held.back()->release();
}

GetEnd Engine::clear(std::uint16_t key) {
  Work work = begin(key);
  return finish(work, remove(work, Remove::base));
}

GetEnd Engine::force_rebuild(std::uint16_t key) {
  Work work = begin(key);
  const GetEnd removed = finish(work, remove(work, Remove::artifact));
  if (removed.outcome == Outcome::failed || removed.outcome == Outcome::fell_back) return removed;
  in_process_[key] = false;
  return get(key);
}

GetEnd Engine::remove(Work& work, Remove what) {
  std::unique_ptr<Lock> lock;
  if (preset_.deletes == DeleteUnder::lock && !preset_.locks.empty()) {
    const std::string& path = work.layout.locks.front();
    if (Result<void> made = files_.make_dirs(parent_of(path)); !made) return {Outcome::failed, made.error().message()};
    lock = make_lock(preset_.locks.front(), path, files_, job_, baseline());
    const Acquired acquired = lock->acquire();
    if (acquired == Acquired::at_bound) return {Outcome::fell_back, lock_timeout(preset_.family, lock->bound())};
    if (acquired != Acquired::owner) return {Outcome::failed, lock->reason()};
  }
  const Result<void> removed = remove_files(work, what);
  if (lock) lock->release();
  if (!removed) return {Outcome::failed, removed.error().message()};
  return {Outcome::none, {}};
}

Result<void> Engine::remove_files(Work& work, Remove what) {
  const std::string& base = work.layout.base;
  if (preset_.check == Check::digest) {
    // Nobody may see half an entry: it leaves its name first.
    TRY(files_.make_dirs(work.layout.temporary));
    const std::string aside = join(work.layout.temporary, "gone." + hex(random_bits()));
    const Result<void> moved = files_.rename(base, aside);
    if (!moved) return moved.error().code == ENOENT ? Result<void>{} : moved;
    return files_.remove_tree(aside);
  }
  // A published directory without its artifact is an error for ever, so those who publish directories remove them
  // whole.
  if (what == Remove::base || preset_.publish == Publish::rename_dir) return files_.remove_tree(base);
  const Result<void> gone = files_.unlink(work.layout.artifact);
  return gone || gone.error().code == ENOENT ? Result<void>{} : gone;
}

std::uint64_t Engine::next_attempt() {
  if (job_.attempt != 0) return job_.attempt;
  const std::uint64_t of_slot = derive_seed(job_.seed, job_.slot);
  return std::max<std::uint64_t>(1, derive_seed(of_slot, ++attempts_));
}

// GPTQModel knows what its kernels take; here only the fake compiler says so beforehand.
Nanoseconds Engine::baseline() const { return job_.toolchain.kind == ToolchainKind::fake ? job_.fake_duration : 0; }

}  // namespace jitrace
