#include "process/wait_status.h"

#include <sys/wait.h>

#include <csignal>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

TEST(WaitStatus, EveryExitCodeSurvivesARealChild) {
  for (int code = 0; code < 256; ++code) {
    auto child = Process::spawn(command({program("end_as"), "exit", std::to_string(code)}));
    ASSERT_TRUE(child);
    const WaitStatus status = child->wait().value();
    EXPECT_TRUE(status.is_exit(code)) << status.describe();
    EXPECT_EQ(status.value(), code);
    EXPECT_TRUE(WIFEXITED(status.raw()));
    EXPECT_EQ(WEXITSTATUS(status.raw()), code);
    EXPECT_TRUE(WaitStatus::from_raw(status.raw()).is_exit(code));
    EXPECT_EQ(status.describe(), "exit " + std::to_string(code));
  }
}

TEST(WaitStatus, EverySignalSurvivesARealChild) {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (number == 32 || number == 33) continue;  // the C library keeps them
    SCOPED_TRACE(number);
    auto child = Process::spawn(command({program("end_as"), "signal", std::to_string(number)}));
    ASSERT_TRUE(child);
    switch (number) {
      case SIGCHLD:
      case SIGURG:
      case SIGWINCH:
      case SIGCONT:
        EXPECT_TRUE(child->wait().value().is_exit(0));
        continue;
      case SIGSTOP:
      case SIGTSTP:
      case SIGTTIN:
      case SIGTTOU:
        // Stopped, or ignored by a group that has no session leader to continue it: both end by our kill.
        continue;
      default: break;
    }
    const WaitStatus status = child->wait().value();
    EXPECT_TRUE(status.is_kill(number)) << status.describe();
    EXPECT_FALSE(status.is_exit(number));
    EXPECT_TRUE(WIFSIGNALED(status.raw()));
    EXPECT_EQ(WTERMSIG(status.raw()), number);
    EXPECT_TRUE(WaitStatus::from_raw(status.raw()).is_kill(number));
  }
}

TEST(WaitStatus, RawStopsAndContinuesAreTold) {
  for (int number = 1; number <= 64; ++number) {
    const WaitStatus stopped = WaitStatus::from_raw((number << 8) | 0x7f);
    EXPECT_EQ(stopped.kind(), WaitStatus::Kind::stopped);
    EXPECT_EQ(stopped.value(), number);
    EXPECT_FALSE(stopped.is_end());
    EXPECT_EQ(stopped.raw(), (number << 8) | 0x7f);
  }
  EXPECT_EQ(WaitStatus::from_raw(0xffff).kind(), WaitStatus::Kind::continued);
  // With the core flag it is still a kill by that signal.
  EXPECT_TRUE(WaitStatus::from_raw(SIGSEGV | 0x80).is_kill(SIGSEGV));
  EXPECT_TRUE(WaitStatus::from_waitid(CLD_DUMPED, SIGABRT).is_kill(SIGABRT));
  EXPECT_EQ(WaitStatus::from_waitid(CLD_STOPPED, SIGSTOP).describe(), "stopped by SIGSTOP");
}

TEST(WaitStatus, NamesSignals) {
  EXPECT_EQ(WaitStatus::killed(SIGKILL).describe(), "killed by SIGKILL");
  EXPECT_EQ(WaitStatus::killed(SIGRTMIN + 2).describe(), "killed by SIGRTMIN+2");
  EXPECT_EQ(WaitStatus::exited(137).describe(), "exit 137");
}

}  // namespace
}  // namespace jitrace
