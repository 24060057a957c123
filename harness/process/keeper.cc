#include "process/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "process/guard.h"

namespace jitrace {
namespace {

constexpr std::size_t output_limit = 1 << 20;

std::string limit_words(Nanoseconds limit) {
  return limit % seconds(1) == 0 ? std::to_string(limit / seconds(1)) + " s" : std::to_string(limit / milliseconds(1)) + " ms";
}

Result<std::string> read_memory(const Fd& memory) {
  std::string text(output_limit, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t n = ::pread(memory.get(), text.data() + length, text.size() - length, static_cast<off_t>(length));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error("read a tool's output");
    if (n == 0) break;
    length += static_cast<std::size_t>(n);
  }
  text.resize(length);
  return text;
}

// Until the guard says how the tool ended; nothing: the limit passed or the interrupt came.
Result<std::optional<WaitStatus>> wait_for_end(Guard& guard, const Keeper& keeper, Nanoseconds deadline) {
  for (;;) {
    pollfd fds[] = {{guard.socket().get(), POLLIN, 0}, {keeper.interrupt, POLLIN, 0}};
    const Nanoseconds left = deadline - now();
    if (deadline != 0 && left <= 0) return std::optional<WaitStatus>();
    const int patience = deadline == 0 ? -1 : static_cast<int>(std::min<Nanoseconds>(left / milliseconds(1) + 1, 1'000'000));
    if (::poll(fds, 2, patience) < 0 && errno != EINTR) return last_error("poll");
    if (fds[1].revents != 0) return std::optional<WaitStatus>();
    if (fds[0].revents == 0) continue;
    TRY_ASSIGN(const std::vector<GuardEvent> events, guard.receive());
    for (const GuardEvent& event : events) {
      if (event.kind == GuardEvent::Kind::not_started) return make_error("start a tool", {}, 0, event.text);
      if (event.kind == GuardEvent::Kind::ended && event.status) return std::optional(*event.status);
    }
  }
}

// The guard knows of it before it is made.
Result<void> add_temp_dir(Guard& guard, Guard::Start& start) {
  const char* temp = std::getenv("TMPDIR");
  const std::string path = join(temp == nullptr || *temp == '\0' ? "/tmp" : temp, "jitrace-tool-" + hex(random_bits()));
  TRY(guard.add_scrap(path));
  if (::mkdir(path.c_str(), 0700) != 0) return last_error("create directory", path);
  std::erase_if(start.environment, [](const std::string& entry) { return entry.starts_with("TMPDIR="); });
  start.environment.push_back("TMPDIR=" + path);
  return {};
}

}  // namespace

Result<Finished> run_kept(const Keeper& keeper, const Command& command) {
  if (keeper.guard.empty()) return run_to_end(command);
  const Fd memory(::memfd_create("jitrace-output", MFD_CLOEXEC));
  if (!memory) return last_error("create a memory file");
  std::optional<Finished> finished;
  {
    TRY_ASSIGN(Guard guard, Guard::start(keeper.guard));
    Guard::Start start;
    start.id = 1;
    start.argv = command.argv;
    start.environment = command.environment.empty() ? environment_with({}) : command.environment;
    start.directory = command.directory;
    if (keeper.temp_files == Keeper::TempFiles::own) TRY(add_temp_dir(guard, start));
    start.output = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory.get());
    TRY(guard.start_process(start));
    TRY_ASSIGN(const std::optional<WaitStatus> status,
               wait_for_end(guard, keeper, keeper.limit == 0 ? 0 : now() + keeper.limit));
    if (status) finished.emplace(Finished{*status, {}});
  }
  // The guard is gone, and everybody below it.
  if (!finished) {
    pollfd interrupt{keeper.interrupt, POLLIN, 0};
    if (::poll(&interrupt, 1, 0) > 0) return make_error("run", command.argv.front(), ECANCELED);
    return make_error("run", command.argv.front(), ETIMEDOUT, "it did not end within " + limit_words(keeper.limit));
  }
  TRY_ASSIGN(finished->output, read_memory(memory));
  return std::move(*finished);
}

}  // namespace jitrace
