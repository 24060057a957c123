#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "event/board.h"
#include "process/proc.h"
#include "process/process.h"
#include "toolchain/artifact.h"
#include "toolchain/toolchain.h"

namespace jitrace {

inline std::optional<Toolchain> find_toolchain(ToolchainKind kind) {
  for (const ToolchainProbe& probe : find_toolchains({{}, JITRACE_LIBEXEC})) {
    if (probe.kind == kind && probe.toolchain) return probe.toolchain;
  }
  return std::nullopt;
}

inline Kernel real_kernel(const std::string& name) {
  Result<Kernel> kernel = read_kernel(JITRACE_SOURCE_DIR "/scenarios/kernels", name);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().message());
  return kernel ? *kernel : Kernel{};
}

// One compile below a board: arm a point, start, wait for an event, look at the disk, kill, let go on.
class CompileTrial {
 public:
  explicit CompileTrial(Toolchain toolchain) : toolchain_(std::move(toolchain)) {
    board_.emplace(*Board::create(at("board"), {256, 4096}, 1));
    Result<std::string> compiler = make_shadow(toolchain_, at("shadow"), JITRACE_LIBEXEC);
    EXPECT_TRUE(compiler) << compiler.error().message();
    compiler_ = compiler ? *compiler : "";
    EXPECT_TRUE(make_dirs(at("scratch")));
  }

  std::string at(const std::string& name) const { return join(dir_.path(), name); }
  Board& board() { return *board_; }
  const Toolchain& toolchain() const { return toolchain_; }
  const std::string& compiler() const { return compiler_; }

  std::vector<std::string> environment(std::uint64_t attempt) const {
    Result<std::vector<std::string>> changes =
        attempt_environment(toolchain_, {attempt, 5, at("scratch")}, at("shadow"));
    EXPECT_TRUE(changes);
    changes->push_back("JITRACE_BOARD=" + at("board"));
    return environment_with(*changes);
  }

  Process start(std::vector<std::string> argv, std::uint64_t attempt = 0x11) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment(attempt);
    output_ = *open_fd(at("output"), O_CREAT | O_WRONLY | O_APPEND);
    command.out = output_.get();
    command.err = output_.get();
    Result<Process> process = Process::spawn(command);
    EXPECT_TRUE(process) << (process ? "" : process.error().message());
    return std::move(*process);
  }
  Finished run(std::vector<std::string> argv, std::uint64_t attempt = 0x11) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment(attempt);
    Result<Finished> finished = run_to_end(command);
    EXPECT_TRUE(finished) << (finished ? "" : finished.error().message());
    return finished ? *finished : Finished{WaitStatus::exited(255), ""};
  }

  // All events so far.
  const std::vector<Event>& events() {
    board_->clear_bell();
    for (Event& event : board_->read(&next_)) events_.push_back(std::move(event));
    return events_;
  }
  // The first event that fits, now or within a minute; an empty one, and a failed test, if none comes.
  Event wait_for(const std::function<bool(const Event&)>& fits, const char* what) {
    const Nanoseconds deadline = now() + seconds(60);
    while (now() < deadline) {
      for (const Event& event : events()) {
        if (fits(event)) return event;
      }
      pollfd bell{board_->bell().get(), POLLIN, 0};
      ::poll(&bell, 1, 20);  // most events do not ring
    }
    ADD_FAILURE() << "no " << what << " within a minute; output so far: " << said();
    return {};
  }
  Event wait_at(Point point) {
    return wait_for([point](const Event& e) { return e.kind == EventKind::reached && e.point == point && e.a == 1; },
                    std::string(name_of(point)).c_str());
  }
  Event wait_done(const std::string& path) {
    return wait_for([&](const Event& e) { return e.kind == EventKind::tool_output && e.a == 3 && e.text == path; }, "tool_output 3");
  }
  Event wait_end(Slot slot) {
    return wait_for([slot](const Event& e) { return e.kind == EventKind::tool_end && e.slot == slot; }, "tool_end");
  }
  int count(EventKind kind, Point point = Point::none) {
    int found = 0;
    for (const Event& event : events()) found += event.kind == kind && (point == Point::none || event.point == point) ? 1 : 0;
    return found;
  }
  std::string said() const {
    const Result<std::string> text = read_file(at("output"));
    return text ? *text : "";
  }

 private:
  TempDir dir_ = *TempDir::create(::testing::TempDir(), "compile");
  Toolchain toolchain_;
  std::string compiler_;
  std::optional<Board> board_;
  Fd output_;
  std::uint64_t next_ = 0;
  std::vector<Event> events_;
};

inline void kill_pid(std::uint32_t pid) {
  const Result<Fd> handle = open_pidfd(static_cast<pid_t>(pid));
  ASSERT_TRUE(handle);
  ASSERT_TRUE(send_signal(*handle, SIGKILL));
}

// Until the process is gone or a zombie that nobody below us reaps.
inline void wait_gone(std::uint32_t pid) {
  const Nanoseconds deadline = now() + seconds(30);
  while (now() < deadline) {
    const std::optional<ProcStat> stat = proc_stat(static_cast<pid_t>(pid));
    if (!stat || stat->state == 'Z') return;
    ::poll(nullptr, 0, 5);
  }
  ADD_FAILURE() << "process " << pid << " is still there";
}

inline ino_t inode_of(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? s.st_ino : 0;
}
inline std::uint64_t size_of(const std::string& path) {
  const Result<std::uint64_t> size = file_size(path);
  return size ? *size : 0;
}

}  // namespace jitrace
