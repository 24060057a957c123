#include "cli/traced.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/environment.h"
#include "plan/recording.h"
#include "verdict/sweep_cell.h"

namespace jitrace {
namespace {

std::vector<std::string> made_elsewhere(const History& recorded) {
  std::vector<std::string> paths;
  for (const Event& event : recorded.events) {
    if (event.kind == EventKind::elsewhere && !is_temporary_name(base_of(event.text))) paths.push_back(event.text);
  }
  return paths;
}

}  // namespace

std::unique_ptr<TracedRun> TracedRun::begin(const TracedOptions& options, const std::string& name, int jobs, ExitCode* code) {
  const auto fail = [code](const Error& error, ExitCode with) {
    *code = complain(error, with);
    return nullptr;
  };
  std::unique_ptr<TracedRun> run(new TracedRun(options));
  const auto libexec = find_libexec();
  if (!libexec) return fail(libexec.error(), ExitCode::own_fault);
  auto interrupt = Interrupt::create();
  if (!interrupt) return fail(interrupt.error(), ExitCode::own_fault);
  run->interrupt_.emplace(std::move(*interrupt));
  auto dir = options.out.empty() ? RunDir::create_fresh(name) : RunDir::create(options.out);
  if (!dir) return fail(dir.error(), ExitCode::unusable);
  run->dir_.emplace(std::move(*dir));
  std::error_code error;
  const std::string out = std::filesystem::absolute(run->dir_->path(), error).lexically_normal();
  const std::string id = hex(random_bits()).substr(8);
  std::vector<std::string> scrap{join(out, "scratch")};
  if (options.cache_dirs.empty()) scrap.push_back(join(out, "cache"));
  for (const std::string& under : options.cache_dirs) scrap.push_back(join(std::filesystem::absolute(under, error).lexically_normal().string(), "jitrace-" + id));
  auto guards = start_lanes(1, *libexec, scrap);
  if (!guards) return fail(guards.error(), ExitCode::own_fault);
  run->guards_ = std::move(*guards);
  const auto roots = make_caches(options.cache_dirs, out, id);
  if (!roots) {
    run->discard();
    return fail(roots.error(), ExitCode::unusable);
  }
  run->root_ = roots->front();
  run->places_.libexec = *libexec;
  run->places_.root = roots->front();
  run->places_.cache = join(roots->front(), "own/cache");
  run->places_.scratch = join(out, "scratch");
  run->places_.lanes = jobs > 0 ? std::min(jobs, LaneRunner::side_by_side()) : LaneRunner::side_by_side();
  run->places_.interrupt = run->interrupt_->fd().get();
  run->watch(options.beside);
  for (const std::string& path : {run->places_.cache, run->places_.scratch}) {
    if (const auto made = make_dirs(path); !made) return fail(made.error(), ExitCode::unusable);
  }
  return run;
}

void TracedRun::watch(const std::vector<std::string>& beside) {
  for (std::string path : beside) {
    if (!is_under(path, temporary_name)) {
      // As the processes' paths come out: links on the way to it are followed, it itself is not.
      std::error_code error;
      path = std::filesystem::absolute(path, error).lexically_normal().string();
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
      path = join(std::filesystem::weakly_canonical(parent_of(path), error).string(), base_of(path));
      // What lies elsewhere is everybody's: two lanes would wait for each other's locks there.
      places_.lanes = 1;
      if (!exists(path)) places_.passing.push_back(path);
    }
    if (std::find(beside_.begin(), beside_.end(), path) == beside_.end()) beside_.push_back(path);
  }
}

TracedRun::~TracedRun() {
  zygote_.reset();
  if (root_.empty()) return;
  for (const std::string& path : {root_, places_.scratch}) {
    if (const auto removed = remove_tree(path); !removed) std::fprintf(stderr, "jitrace: %s\n", removed.error().message().c_str());
  }
  if (options_.cache_dirs.empty()) (void)::rmdir(parent_of(root_).c_str());
  dir_->discard();  // of one that was refused nothing stays; what holds a report is not empty
}

void TracedRun::discard() { dir_->discard(); }

TracePlan TracedRun::base() const {
  TracePlan plan;
  plan.command = options_.command;
  plan.beside = beside_;
  plan.polls = options_.polls;
  plan.limit = options_.limit;
  return plan;
}

Zygote::Wanted TracedRun::zygote_wanted(const std::vector<std::string>& modules) const {
  return {places_.libexec, places_.scratch, options_.command, modules};
}

Result<void> TracedRun::run(const std::vector<TracePlan>& plans, const LaneRunner::Done& done) {
  return LaneRunner(places_).run(plans, done);
}

Result<History> TracedRun::run_one(const TracePlan& plan) {
  Result<History> result = plain_error("carry out a traced plan", "it was not begun");
  TRY(run({plan}, [&result](std::size_t, Result<History> history) { result = std::move(history); }));
  return result;
}

Result<History> TracedRun::first_recording() {
  TracePlan plan = base();
  plan.elsewhere = Noticing::yes;
  TRY_ASSIGN(History first, run_one(plan));
  const std::vector<std::string> made = made_elsewhere(first);
  if (made.empty() || !failure_of(first).empty()) return first;
  next_second();
  TRY_ASSIGN(History second, run_one(plan));
  std::vector<std::string> shared = made_elsewhere(second);
  std::erase_if(shared, [&made](const std::string& path) { return std::find(made.begin(), made.end(), path) == made.end(); });
  if (shared.empty() || !failure_of(second).empty()) return second;
  watch(shared);
  next_second();
  return run_one(base());
}

void next_second() {
  using std::chrono::system_clock;
  std::this_thread::sleep_until(std::chrono::ceil<std::chrono::seconds>(system_clock::now()));
}

ExitCode stopped(TracedRun& run, const Error& error) {
  if (const int signal = run.signal(); signal != 0) {
    std::fprintf(stderr, "jitrace: interrupted\n");
    return interrupted_by(signal);
  }
  return complain(error, code_for(error));
}

}  // namespace jitrace
