#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "process/guard.h"
#include "process/proc.h"
#include "process/process.h"

namespace jitrace {

inline std::string program(const std::string& name) {
  return std::string(JITRACE_BINARY_DIR) + "/tests/programs/" + name;
}
inline std::string guard_program() { return std::string(JITRACE_LIBEXEC) + "/guard"; }

inline TempDir scratch() {
  const char* parent = ::getenv("TMPDIR");
  return std::move(TempDir::create(parent != nullptr ? parent : P_tmpdir, "jitrace-test-").value());
}

inline Command command(std::vector<std::string> argv) {
  Command c;
  c.argv = std::move(argv);
  return c;
}

// A FIFO in which programs say that they are where the test wants them.
class Ready {
 public:
  explicit Ready(const std::string& directory) : path_(join(directory, "ready")) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    fd_ = std::move(open_fd(path_, O_RDWR | O_NONBLOCK).value());
  }
  const std::string& path() const { return path_; }
  // Waits until `count` programs have said so.
  ::testing::AssertionResult wait(int count = 1) {
    for (; count > 0; --count) {
      pollfd readable{fd_.get(), POLLIN, 0};
      char byte = 0;
      if (::poll(&readable, 1, 20'000) != 1 || ::read(fd_.get(), &byte, 1) != 1) {
        return ::testing::AssertionFailure() << count << " more did not say that they are ready";
      }
    }
    return ::testing::AssertionSuccess();
  }

 private:
  std::string path_;
  Fd fd_;
};

// A guard and all that it has said.
class Lane {
 public:
  Lane() : guard(std::move(Guard::start(guard_program()).value())) {}

  Guard guard;
  std::vector<GuardEvent> events;

  std::uint32_t start(std::vector<std::string> argv, std::vector<std::string> environment = environment_with({}),
                      const std::string& directory = "", const std::string& output = "") {
    const std::uint32_t id = ++last_id_;
    EXPECT_TRUE(guard.start_process({id, std::move(argv), std::move(environment), directory, output}));
    return id;
  }

  int count(GuardEvent::Kind kind) const {
    int n = 0;
    for (const GuardEvent& event : events) n += event.kind == kind ? 1 : 0;
    return n;
  }
  const GuardEvent* find(GuardEvent::Kind kind, std::uint32_t id) const {
    for (const GuardEvent& event : events) {
      if (event.kind == kind && event.id == id) return &event;
    }
    return nullptr;
  }

  // Waits until there are `wanted` events of the kind.
  ::testing::AssertionResult wait(GuardEvent::Kind kind, int wanted = 1) {
    const Nanoseconds deadline = now() + seconds(20);
    while (count(kind) < wanted) {
      pollfd readable{guard.socket().get(), POLLIN, 0};
      if (now() > deadline || ::poll(&readable, 1, 20'000) != 1) {
        return ::testing::AssertionFailure() << count(kind) << " events of kind " << static_cast<int>(kind);
      }
      auto more = guard.receive();
      if (!more) return ::testing::AssertionFailure() << more.error().message();
      events.insert(events.end(), more->begin(), more->end());
    }
    return ::testing::AssertionSuccess();
  }

 private:
  std::uint32_t last_id_ = 0;
};

}  // namespace jitrace
