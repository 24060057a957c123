#include <algorithm>

#include "strategy/preset.h"

namespace jitrace {
namespace {

LockChoice torch_baton_lock() {
  LockChoice lock;
  lock.kind = LockKind::baton;
  lock.name = "lock";
  lock.poll = milliseconds(100);
  return lock;
}

// py-filelock: opens at each try, and takes a file that was unlinked in between for no lock. Before it makes the file,
// it tries flock on an anonymous one beside it (O_TMPFILE), which nobody else ever sees: left out.
LockChoice torch_flock_lock() {
  LockChoice lock;
  lock.kind = LockKind::flock;
  lock.name = "lock";
  lock.poll = milliseconds(50);
  lock.reopens = true;
  return lock;
}

LockChoice msa_lock() {
  LockChoice lock;
  lock.kind = LockKind::flock;
  lock.name = "build.lock";
  lock.sweep = SweepBaton::yes;
  return lock;
}

LockChoice gptqmodel_lock() {
  LockChoice lock;
  lock.kind = LockKind::flock;
  lock.file = LockFile::beside_root;
  lock.poll = milliseconds(100);
  lock.bound = seconds(600);
  lock.bound_times = 5;
  lock.at_bound = AtBound::fall_back;
  lock.on_error = LockError::contention;
  lock.sweep = SweepBaton::yes;
  return lock;
}

LockChoice deepgemm_lock() {
  LockChoice lock;
  lock.kind = LockKind::flock;
  lock.file = LockFile::locks_dir;
  lock.inherit = InheritLock::yes;
  return lock;
}

LockChoice sound_lock() {
  LockChoice lock;
  lock.kind = LockKind::flock;
  lock.file = LockFile::locks_dir;
  lock.poll = milliseconds(10);
  lock.poll_max = milliseconds(200);
  lock.bound = seconds(60);
  lock.bound_times = 5;
  lock.at_bound = AtBound::go_on_unlocked;
  lock.on_error = LockError::go_on_unlocked;
  lock.keeps_record = true;
  return lock;
}

Preset torch_baton() {
  Preset p;
  p.name = "torch-baton";
  p.mirrors = "torch <= 2.13 cpp_extension.load (pytorch @ 0011ec5 cpp_extension.py, file_baton.py:43)";
  p.locks = {torch_baton_lock()};
  p.run = RunKind::ninja;
  p.check = Check::none;
  p.points = {Point::make_dir, Point::lock_wait, Point::lock_held, Point::write_source, Point::spawn, Point::compile,
              Point::output,   Point::link,      Point::unlock,    Point::load};
  return p;
}

Preset torch_flock() {
  Preset p = torch_baton();
  p.name = "torch-flock";
  p.mirrors =
      "torch >= 2.14 (PR #190543); its steps are those of torch 2.14.1 with filelock 4.3.1, recorded 2026-12-01";
  p.locks = {torch_flock_lock()};
  return p;
}

Preset msa_over(const LockChoice& inner, std::string_view name) {
  Preset p = torch_baton();
  p.name = name;
  p.mirrors = "the fix of MiniMax-AI/MSA #23 by its description: flock on <dir>/build.lock around torch's own load()";
  p.locks = {msa_lock(), inner};
  p.load.under_lock = true;
  return p;
}

Preset gptqmodel_over(const LockChoice& inner, std::string_view name) {
  Preset p = torch_baton();
  p.name = name;
  p.mirrors = "GPTQModel @ f4c327a gptqmodel/utils/cpp.py:353-378,774-815,961-971,1084 (the fix of #3015)";
  p.family = Family::fingerprint;
  p.locks = {gptqmodel_lock(), inner};
  p.recheck = Recheck::load;
  p.load.under_lock = true;
  p.load.recheck = true;
  p.load.times = 2;
  p.deletes = DeleteUnder::lock;
  p.points = {Point::lock_wait, Point::lock_held, Point::recheck, Point::make_dir, Point::write_source, Point::spawn,
              Point::compile,   Point::output,    Point::link,    Point::load,     Point::unlock};
  return p;
}

Preset deepgemm() {
  Preset p;
  p.name = "deepgemm";
  p.mirrors = "DeepGEMM @ 0f5f266 csrc/jit/compiler.hpp:89-127,214-217, kernel_runtime.hpp:44-75, system.hpp:45";
  p.family = Family::deepgemm;
  p.run = RunKind::popen;
  p.publish = Publish::rename_file;
  p.check = Check::complete;
  p.load.probe_first = true;
  p.builds_per_key = 0;
  p.status = StatusReading::exit_code_only;
  p.points = {Point::probe,   Point::make_dir, Point::write_source, Point::rename_gap, Point::spawn,
              Point::compile, Point::output,   Point::publish,      Point::load};
  return p;
}

Preset deepgemm_flock() {
  Preset p = deepgemm();
  p.name = "deepgemm-flock";
  p.mirrors =
      "DeepGEMM PR #302 head 288f146: flock on <cache>/locks/kernel.<name>.<hex>.lock, not close-on-exec, re-check";
  p.locks = {deepgemm_lock()};
  p.recheck = Recheck::look;
  p.load.recheck = true;
  p.load.under_lock = true;
  p.builds_per_key = 1;
  p.points = {Point::probe,        Point::lock_wait,  Point::lock_held, Point::recheck, Point::make_dir,
              Point::write_source, Point::rename_gap, Point::spawn,     Point::compile, Point::output,
              Point::publish,      Point::load,       Point::unlock};
  return p;
}

Preset deepgemm_dir() {
  Preset p = deepgemm();
  p.name = "deepgemm-dir";
  p.mirrors = "DeepGEMM @ 54e2261 kernel_runtime.hpp:96-135, compiler.hpp:80-147, system.hpp:45-48; DeepEP @ dd758ca";
  p.place = Place::private_dir;
  p.publish = Publish::rename_dir;
  p.incomplete = Incomplete::error;
  p.status = StatusReading::whole;
  p.sync = Sync::yes;
  p.points = {Point::probe,  Point::make_dir, Point::write_source, Point::spawn, Point::compile,
              Point::output, Point::sync,     Point::publish,      Point::load};
  return p;
}

Preset sound() {
  Preset p;
  p.name = "sound";
  p.mirrors = "none: private build, manifest, fsync, directory rename; the lock only saves work (subjects.md 17)";
  p.family = Family::sound;
  p.locks = {sound_lock()};
  p.run = RunKind::exec;
  p.place = Place::private_dir;
  p.publish = Publish::rename_dir;
  p.check = Check::digest;
  p.recheck = Recheck::look;
  p.sync = Sync::yes;
  p.orphans = Orphans::die;
  p.load.probe_first = true;
  p.load.recheck = true;
  p.load.own_copy = true;
  p.points = {Point::probe,        Point::lock_wait, Point::lock_held, Point::recheck, Point::make_dir,
              Point::write_source, Point::spawn,     Point::compile,   Point::output,  Point::publish_meta,
              Point::sync,         Point::publish,   Point::unlock,    Point::load};
  return p;
}

// Everybody asks one server, and only the server builds. What it publishes is an entry of `sound`, and so is what a
// client builds that has lost it twice.
Preset daemon_preset() {
  Preset p = sound();
  p.name = "daemon";
  p.mirrors =
      "none: one compile server per cache, its liveness a lock held for life (sccache's lessons; subjects.md 17)";
  LockChoice server;
  server.kind = LockKind::daemon;
  server.bound = seconds(10);  // without a sign of life
  p.locks = {server};
  p.points = {Point::probe,  Point::make_dir,     Point::write_source, Point::spawn,   Point::compile,
              Point::output, Point::publish_meta, Point::sync,         Point::publish, Point::load};
  return p;
}

std::vector<Preset> make_presets() {
  return {torch_baton(),
          torch_flock(),
          msa_over(torch_baton_lock(), "msa-flock"),
          gptqmodel_over(torch_baton_lock(), "gptqmodel-flock"),
          deepgemm(),
          deepgemm_flock(),
          deepgemm_dir(),
          daemon_preset(),
          sound()};
}

std::vector<Preset> make_variants() {
  Preset unlocked_clear = gptqmodel_over(torch_baton_lock(), "gptqmodel-flock unlocked-clear");
  unlocked_clear.deletes = DeleteUnder::nothing;
  Preset lock_inside = gptqmodel_over(torch_baton_lock(), "gptqmodel-flock lock-inside");
  lock_inside.locks[0].file = LockFile::inside_entry;
  lock_inside.locks[0].name = "build.lock";
  return {msa_over(torch_baton_lock(), "msa-flock over baton"),
          msa_over(torch_flock_lock(), "msa-flock over flock"),
          gptqmodel_over(torch_baton_lock(), "gptqmodel-flock over baton"),
          gptqmodel_over(torch_flock_lock(), "gptqmodel-flock over flock"),
          unlocked_clear,
          lock_inside};
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = make_presets();
  return table;
}

const std::vector<Preset>& preset_variants() {
  static const std::vector<Preset> table = make_variants();
  return table;
}

const Preset* find_preset(std::string_view name) {
  for (const std::vector<Preset>* table : {&presets(), &preset_variants()}) {
    for (const Preset& preset : *table) {
      if (preset.name == name) return &preset;
    }
  }
  return nullptr;
}

RunKind run_of(const Preset& preset, std::string_view toolchain) {
  return toolchain.starts_with("nvrtc") ? RunKind::library : preset.run;
}

std::string_view name_of(RunKind kind) {
  switch (kind) {
    case RunKind::exec: return "exec";
    case RunKind::popen: return "popen";
    case RunKind::ninja: return "ninja";
    case RunKind::library: return "library";
  }
  return "?";
}

std::string_view name_of(LockKind kind) {
  switch (kind) {
    case LockKind::none: return "none";
    case LockKind::baton: return "baton";
    case LockKind::flock: return "flock";
    case LockKind::ofd: return "ofd";
    case LockKind::daemon: return "daemon";
  }
  return "?";
}

Nanoseconds bound_of(const LockChoice& lock, Nanoseconds baseline, double scale) {
  if (lock.bound == 0) return 0;
  const Nanoseconds bound = std::max<Nanoseconds>(lock.bound, lock.bound_times * baseline);
  return std::max<Nanoseconds>(1, static_cast<Nanoseconds>(static_cast<double>(bound) * scale));
}

}  // namespace jitrace
