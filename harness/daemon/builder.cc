#include "daemon/builder.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "process/proc.h"
#include "strategy/board_probe.h"
#include "strategy/engine.h"

namespace jitrace {
namespace {

// For a server that nobody watches.
class SilentProbe final : public Probe {
 public:
  void reach(Point, std::string_view, std::uint64_t) override {}
  void note(Event&&) override {}
  void tool_begin(ToolRole, std::uint32_t, std::string_view) override {}
  void tool_end(std::uint32_t, int) override {}
  void set_key(std::uint16_t) override {}
  void set_attempt(std::uint64_t) override {}
};

// The server's builds are those of `sound` without its lock: that there is one server is the lock.
Preset server_preset() {
  Preset preset = *find_preset("sound");
  preset.name = "daemon";
  preset.locks.clear();
  return preset;
}

// By a signal, itself or what ran below it: compilers report the latter as a shell does.
bool was_killed(int status) {
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 128);
}

}  // namespace

Builder::Builder(DaemonRequest request, std::string root, std::string scratch, Board* board, std::function<void()> done)
    : request_(std::move(request)), root_(std::move(root)), scratch_(std::move(scratch)), board_(board),
      done_(std::move(done)), thread_([this] { run(); }) {}

Builder::~Builder() { thread_.join(); }

void Builder::run() {
  reply_ = build();
  finished_.store(true, std::memory_order_release);
  done_();
}

DaemonReply Builder::build() {
  const auto toolchain = parse_toolchain_kind(request_.toolchain);
  if (!toolchain) return {DaemonReply::Kind::failed, "unknown toolchain " + request_.toolchain};
  Job job;
  job.root = root_;
  job.scratch = scratch_;
  job.arch = request_.arch;
  job.toolchain.kind = *toolchain;
  job.toolchain.name = request_.toolchain_name;
  job.toolchain.program = request_.library;
  job.keys.resize(request_.key + std::size_t{1});
  job.keys[request_.key] = {request_.kernel, request_.source, 0};

  SilentProbe silent;
  std::unique_ptr<BoardProbe> watched;
  if (board_ != nullptr) watched = std::make_unique<BoardProbe>(*board_, board_->claim_slot());
  Probe& probe = watched ? static_cast<Probe&>(*watched) : silent;

  BuildOrder order;
  order.attempt = request_.attempt;
  order.argv = request_.argv;
  order.environment = request_.environment;
  order.directory = request_.directory;
  order.started = [this](pid_t pid) { compiler_.store(pid, std::memory_order_release); };
  int status = 0;
  order.ended = [&status](int raw) { status = raw; };
  const Preset preset = server_preset();
  Engine engine(preset, job, probe);
  const GetEnd end = engine.build_entry(request_.key, order);
  compiler_.store(0, std::memory_order_release);
  [[maybe_unused]] const Result<void> gone = remove_tree(join(scratch_, "a" + hex(request_.attempt)));
  if (end.outcome == Outcome::failed) {
    return {was_killed(status) ? DaemonReply::Kind::killed : DaemonReply::Kind::failed, end.message};
  }
  return {DaemonReply::Kind::ready, {}};
}

bool Builder::alive() const {
  const pid_t compiler = compiler_.load(std::memory_order_acquire);
  if (compiler == 0) return true;
  std::vector<pid_t> all = proc_descendants(compiler);
  all.push_back(compiler);
  return std::none_of(all.begin(), all.end(), [](pid_t pid) {
    const std::optional<ProcStat> stat = proc_stat(pid);
    return stat && (stat->state == 'T' || stat->state == 't');
  });
}

}  // namespace jitrace
