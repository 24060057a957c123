#include <csignal>

#include "unit/process/fixture.h"

namespace jitrace {
namespace {

// Waits for the end of everybody who carries the assignment, by handles and without a guess at how long it takes.
void wait_until_nobody_has(const std::string& assignment) {
  const Nanoseconds deadline = now() + seconds(20);
  for (;;) {
    const auto left = find_by_environment(assignment);
    if (left.empty()) return;
    ASSERT_LT(now(), deadline) << left.size() << " are left, one of them " << proc_arguments(left[0]);
    if (auto pidfd = open_pidfd(left[0])) {
      pollfd ended{pidfd->get(), POLLIN, 0};
      ::poll(&ended, 1, 20'000);
    }
  }
}

TEST(GuardDeath, NothingSurvivesADriverThatIsKilled) {
  for (int round = 0; round < 5; ++round) {
    const TempDir dir = scratch();
    Ready ready(dir.path());
    const std::string scrap = join(dir.path(), "scrap");
    ASSERT_TRUE(make_dirs(join(scrap, "deep/er")));
    ASSERT_TRUE(write_file(join(scrap, "deep/file"), "x"));
    // Two tokens: one that only the workers carry, and one that the guard inherits from its driver too.
    const std::string token = "JITRACE_TOKEN=" + dir.path();
    const std::string guards = "JITRACE_GUARD_OF=" + dir.path();
    Command c = command(
        {program("driver_that_dies"), guard_program(), parent_of(program("x")), scrap, token, ready.path()});
    c.environment = environment_with({guards});
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd go_read(ends[0]), go_write(ends[1]);
    c.in = go_read.get();
    auto driver = Process::spawn(c);
    ASSERT_TRUE(driver) << driver.error().message();
    ASSERT_TRUE(ready.wait(4));
    ASSERT_EQ(::write(go_write.get(), "g", 1), 1);
    const WaitStatus end = driver->wait().value();
    ASSERT_TRUE(end.is_kill(SIGKILL)) << end.describe();
    wait_until_nobody_has(guards);
    EXPECT_TRUE(find_by_environment(token).empty());
    EXPECT_FALSE(exists(scrap));
    EXPECT_TRUE(exists(dir.path()));
  }
}

TEST(GuardDeath, DestroyingTheHandleSweepsAndKeepsWhatWasTakenBack) {
  const TempDir dir = scratch();
  Ready ready(dir.path());
  const std::string gone = join(dir.path(), "gone"), kept = join(dir.path(), "kept");
  ASSERT_TRUE(make_dirs(gone));
  ASSERT_TRUE(make_dirs(kept));
  const std::string token = "JITRACE_TOKEN=" + dir.path();
  {
    Lane lane;
    ASSERT_TRUE(lane.guard.add_scrap(gone));
    ASSERT_TRUE(lane.guard.add_scrap(kept));
    ASSERT_TRUE(lane.guard.drop_scrap(kept));
    lane.start({program("double_fork"), ready.path()}, {token});
    lane.start({program("ignore_sigterm"), ready.path()}, {token});
    ASSERT_TRUE(ready.wait(2));
    EXPECT_EQ(find_by_environment(token).size(), 2u);
  }
  EXPECT_TRUE(find_by_environment(token).empty());
  EXPECT_FALSE(exists(gone));
  EXPECT_TRUE(exists(kept));
}

TEST(GuardDeath, StartsThatWereAskedForAndNotYetAnsweredLeaveNobody) {
  const TempDir dir = scratch();
  const std::string token = "JITRACE_TOKEN=" + dir.path();
  {
    Lane lane;
    for (int i = 0; i < 50; ++i) lane.start({program("ignore_sigterm"), "/dev/null"}, {token});
  }
  EXPECT_TRUE(find_by_environment(token).empty());
}

TEST(GuardDeath, ASymbolicLinkInScrapIsNotFollowed) {
  const TempDir dir = scratch();
  const std::string scrap = join(dir.path(), "scrap"), users = join(dir.path(), "users");
  ASSERT_TRUE(make_dirs(scrap));
  ASSERT_TRUE(make_dirs(users));
  ASSERT_TRUE(write_file(join(users, "file"), "x"));
  ASSERT_EQ(::symlink(users.c_str(), join(scrap, "link").c_str()), 0);
  {
    Lane lane;
    ASSERT_TRUE(lane.guard.add_scrap(scrap));
  }
  EXPECT_FALSE(exists(scrap));
  EXPECT_TRUE(exists(join(users, "file")));
}

}  // namespace
}  // namespace jitrace
