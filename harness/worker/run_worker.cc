#include "worker/run_worker.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "event/board.h"
#include "strategy/engine.h"
#include "strategy/board_probe.h"

namespace jitrace {
namespace {

void say(const std::string& text) {
  const std::string line = text + "\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

// What a worker has come to over all its keys: the first failure stands, then a fall back, then a build.
void merge(GetEnd& all, const GetEnd& one) {
  const auto rank = [](Outcome outcome) {
    if (outcome == Outcome::failed) return 3;
    if (outcome == Outcome::fell_back) return 2;
    return outcome == Outcome::built ? 1 : 0;
  };
  if (rank(one.outcome) > rank(all.outcome)) all = one;
}

}  // namespace

Result<Job> job_of(const WorkerSpec& spec) {
  Job job;
  job.root = spec.cache;
  job.scratch = spec.scratch;
  if (!spec.control.empty()) {
    TRY_ASSIGN(job.control, open_fd(spec.control, O_RDWR | O_NONBLOCK));
  }
  job.toolchain = spec.toolchain;
  job.shadow = spec.shadow;
  job.compiler = spec.compiler;
  job.libexec = spec.libexec;
  job.arch = spec.arch;
  job.loader = spec.loader;
  job.loader.index = spec.index;
  for (const KeySpec& key : spec.keys) {
    TRY_ASSIGN(std::string source, read_file(key.source));
    job.keys.push_back({key.kernel, std::move(source), key.reference});
  }
  job.board = spec.board;
  job.slot = spec.slot;
  job.client = spec.client;
  job.rename = spec.rename == "nfs-busy" && spec.clients > 1 ? RenameMode::nfs_busy : RenameMode::local;
  job.bound_scale = spec.bound_scale;
  job.fake_duration = spec.fake_duration;
  job.seed = spec.seed;
  return job;
}

Result<int> run_worker(const WorkerSpec& spec, const Preset& preset) {
  TRY_ASSIGN(const Job job, job_of(spec));
  TRY(make_dirs(job.scratch));
  TRY_ASSIGN(Board board, Board::attach(spec.board));
  BoardProbe probe(board, spec.slot);
  Engine engine(preset, job, probe);
  board.wait_for_start(spec.slot, static_cast<std::uint32_t>(spec.round));

  GetEnd all{Outcome::served, {}};
  for (int time = 0; time < spec.gets; ++time) {
    // Each begins with another key: ranks that ask in one order would build one key at a time, whatever their locks allow.
    for (std::size_t i = 0; i < job.keys.size(); ++i) {
      const auto key = static_cast<std::uint16_t>((i + static_cast<std::size_t>(spec.index)) % job.keys.size());
      if (time == 0 && spec.action == "clear") merge(all, engine.clear(key));
      const bool rebuild = time == 0 && spec.action == "force_rebuild";
      merge(all, rebuild ? engine.force_rebuild(key) : engine.get(key));
    }
  }
  Event event;
  event.kind = EventKind::outcome;
  event.a = static_cast<std::int64_t>(all.outcome);
  event.text = all.message;
  probe.note(std::move(event));
  if (!all.message.empty()) say(all.message);
  return all.outcome == Outcome::failed ? 1 : 0;
}

int worker_main(int argc, char** argv) {
  if (argc != 2) {
    say("usage: worker SPEC (started by jitrace)");
    return 64;
  }
  const Result<std::string> text = read_file(argv[1]);
  const Result<WorkerSpec> spec = text ? WorkerSpec::parse(*text) : Result<WorkerSpec>(text.error());
  if (!spec) {
    say("worker: " + spec.error().message());
    return 70;
  }
  const Preset* preset = find_preset(spec->preset);
  if (preset == nullptr) {
    say("worker: unknown preset " + spec->preset);
    return 70;
  }
  const Result<int> code = run_worker(*spec, *preset);
  if (code) return *code;
  say("worker: " + code.error().message());
  return 70;
}

}  // namespace jitrace
