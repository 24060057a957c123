#include "base/file.h"
#include "base/text.h"
#include "strategy/daemon_client.h"
#include "strategy/engine.h"
#include "strategy/run/child.h"

namespace jitrace {
namespace {

constexpr int losses_borne = 2;

Result<DaemonRequest> request_for(const JobKey& subject, std::uint16_t key, std::uint64_t attempt, ArtifactKind kind,
                                  const Job& job) {
  DaemonRequest request;
  request.key = key;
  request.kernel = subject.kernel;
  request.arch = job.arch;
  request.toolchain = name_of(job.toolchain.kind);
  request.toolchain_name = job.toolchain.name;
  request.source = subject.source;
  request.attempt = attempt;
  if (job.toolchain.kind == ToolchainKind::nvrtc) {
    request.library = job.toolchain.program;
    return request;
  }
  request.argv = compile_command(job.toolchain, job.compiler, job.arch, "{source}", "{output}", kind);
  Build build;
  build.attempt = attempt;
  build.key = key;
  build.scratch = join(job.scratch, "a" + hex(attempt));
  TRY_ASSIGN(request.environment, build_environment(build, job));
  return request;
}

}  // namespace

GetEnd Engine::obtain_from_daemon(Work& work) {
  DaemonClient client(preset_.locks[0], files_, job_);
  for (int losses = 0; losses < losses_borne; ++losses) {
    if (losses > 0) {
      // The server may have published before it was lost.
      GetEnd end{Outcome::none, {}};
      if (recheck(work, &end)) return load_all(work);
    }
    // A new attempt each time: the build of a server that died must be told apart from its successor's.
    const Result<DaemonRequest> request = request_for(*work.subject, work.key, next_attempt(), work.layout.kind, job_);
    if (!request) return {Outcome::failed, request.error().message()};
    const DaemonAnswer answer = client.ask(*request);
    if (answer.kind == DaemonAnswer::Kind::failed) return {Outcome::failed, answer.message};
    if (answer.kind == DaemonAnswer::Kind::lost) continue;
    if (take_hit(work, look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_))) return load_all(work);
  }
  return obtain_as_sound(work);
}

GetEnd Engine::obtain_as_sound(Work& work) {
  Engine own(*find_preset("sound"), job_, probe_);
  own.attempts_ = attempts_;
  Work alone = own.work_on(work.key);
  const GetEnd end = own.obtain(alone);
  attempts_ = own.attempts_;
  work.built = alone.built;
  in_process_[work.key] = own.in_process_[work.key];
  return end;
}

GetEnd Engine::build_entry(std::uint16_t key, const BuildOrder& order) {
  Work work = work_on(key);
  if (look_at(preset_, work.layout, work.subject->kernel, job_.arch, files_).look == Look::hit)
    return {Outcome::served, {}};
  work.order = &order;
  GetEnd end = build(work);
  if (end.outcome == Outcome::none) end.outcome = Outcome::built;
  return end;
}

}  // namespace jitrace
