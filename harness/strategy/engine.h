#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loader/loader.h"
#include "strategy/check.h"
#include "strategy/files.h"
#include "strategy/job.h"
#include "strategy/layout.h"
#include "strategy/lock/lock.h"
#include "strategy/preset.h"
#include "strategy/probe.h"
#include "strategy/run/run.h"

namespace jitrace {

// A build on somebody else's behalf: what the compile server takes from a request.
struct BuildOrder {
  std::uint64_t attempt = 0;
  std::vector<std::string> argv;         // {source} and {output} are replaced; empty: the job's toolchain decides
  std::vector<std::string> environment;  // complete, but for TMPDIR
  std::string directory;
  std::function<void(pid_t)> started;    // the compiler runs
  std::function<void(int)> ended;        // with this status, as waitpid gives it
};

// How a request for a kernel ended: built, served, fell_back or failed, and what the system's user would read.
struct GetEnd {
  Outcome outcome = Outcome::served;
  std::string message;
};

// Carries a preset out, step by step, as the system does that it mirrors. One object is one process's view: it
// remembers what it has loaded.
class Engine {
 public:
  // Borrows all three for its life.
  Engine(const Preset& preset, const Job& job, Probe& probe);

  GetEnd get(std::uint16_t key);
  GetEnd clear(std::uint16_t key);          // removes the key's part of the cache
  GetEnd force_rebuild(std::uint16_t key);  // removes the artifact, then gets it
  // Looks, builds and publishes, and loads nothing. For the compile server, which announces no get.
  GetEnd build_entry(std::uint16_t key, const BuildOrder& order);

 private:
  // What one get has come to so far.
  struct Work {
    std::uint16_t key = 0;
    const JobKey* subject = nullptr;
    Layout layout;
    std::vector<std::unique_ptr<Lock>> held;  // outermost first
    std::uint64_t attempt = 0;      // of the own build; 0: none
    std::uint64_t publisher = 0;    // who published what was found, where a manifest says so
    std::string bytes;              // own copy: verified bytes
    std::string private_dir;
    const BuildOrder* order = nullptr;
    bool built = false;
    bool loaded = false;
  };
  enum class Remove { base, artifact };

  Work work_on(std::uint16_t key);
  Work begin(std::uint16_t key);
  GetEnd obtain(Work& work);
  GetEnd finish(const Work& work, GetEnd end);
  GetEnd get_through(Work& work, std::size_t level);
  GetEnd under_lock(Work& work, std::size_t level);
  GetEnd at_bound(Work& work, std::size_t level, const Lock& lock);
  bool recheck(Work& work, GetEnd* end);
  bool take_hit(Work& work, Looked looked);
  void sweep_baton(Work& work, std::size_t level);
  void release(Work& work);

  GetEnd obtain_from_daemon(Work& work);
  GetEnd obtain_as_sound(Work& work);

  GetEnd build(Work& work);
  Result<BuildEnd> run_compiler(const Build& build);
  Result<void> write_source(Work& work, const std::string& source);
  GetEnd publish(Work& work, const std::string& output);
  GetEnd publish_file(Work& work, const std::string& output);
  GetEnd publish_dir(Work& work);
  Result<void> seal_private_dir(Work& work);
  void sweep_private_dirs(const Work& work);

  GetEnd load_all(Work& work);
  LoadResult load_once(Work& work);
  GetEnd remove(Work& work, Remove what);
  Result<void> remove_files(Work& work, Remove what);

  std::uint64_t next_attempt();
  Nanoseconds baseline() const;

  const Preset& preset_;
  const Job& job_;
  Probe& probe_;
  Files files_;
  std::vector<bool> in_process_;    // by key: loaded already
  std::uint64_t attempts_ = 0;
};

}  // namespace jitrace
