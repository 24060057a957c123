// The supervisor itself, in this process: each test leaves no child, since a supervisor waits for all of them.
#include "trace/supervisor.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <functional>
#include <thread>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

// Rules by a function, and remembers what was said.
class Script final : public Director {
 public:
  std::function<Ruling(const TracedCall&)> rules = [](const TracedCall&) { return Ruling{}; };
  std::vector<std::string> done;  // "what = result"
  std::size_t changes = 0;

  Ruling before(const TracedCall& call) override { return rules(call); }
  void after(const TracedCall& call, std::int64_t result, Changed changed) override {
    done.push_back(call.what + " = " + std::to_string(result));
    changes += changed == Changed::yes ? 1 : 0;
  }
  void started(const TracedProcess&) override {}
  void ended(const TracedProcess&) override {}
  void parked(const TracedCall&) override {}
  void passed(Nanoseconds) override {}
  void bypassed(const TracedProcess&, const std::string&) override {}
};

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() : directory_(std::move(TempDir::create(P_tmpdir, "jitrace-test-").value())) {
    EXPECT_TRUE(make_dirs(cache()));
    options.starter = JITRACE_LIBEXEC "/traced";
    options.limit = seconds(40);
  }
  std::string cache() const { return join(directory_.path(), "cache"); }
  std::string output() const { return read_file(join(directory_.path(), "output")).value(); }

  // The supervisor of a shell line; "$0" is the cache.
  void start(const std::string& line) {
    supervisor.emplace(options, Scope::create(cache(), {}).value(), script);
    Command command;
    command.argv = {"/bin/sh", "-c", line, cache()};
    command.environment = environment_with({});
    const Fd out =
        std::move(open_fd(join(directory_.path(), "output"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND).value());
    command.out = out.get();
    command.err = out.get();
    ASSERT_TRUE(supervisor->start(std::move(command), 0, "A"));
  }
  Supervisor::Halt run() {
    const auto halt = supervisor->run([] { return false; });
    EXPECT_TRUE(halt) << halt.error().message();
    return halt ? *halt : Supervisor::Halt::limit;
  }
  void end() {
    supervisor->kill_worker(0);
    EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  }

  Supervisor::Options options;
  Script script;
  std::optional<Supervisor> supervisor;

 private:
  TempDir directory_;
};

Ruling on(const TracedCall& call, const std::string& what, Ruling ruling) {
  return call.what == what ? ruling : Ruling{};
}

TEST_F(SupervisorTest, ACallCanFailWithoutBeingMade) {
  script.rules = [](const TracedCall& call) {
    return on(call, "mkdir d", {.kind = Ruling::Kind::fail, .error = ENOSPC});
  };
  start("mkdir \"$0/d\"; ls -A \"$0\"");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  EXPECT_THAT(output(), HasSubstr("No space left on device"));
  EXPECT_THAT(script.done, Contains("mkdir d = -" + std::to_string(ENOSPC)));
  EXPECT_THAT(list_tree(cache()), IsEmpty());
  EXPECT_EQ(script.changes, 0u);
}

TEST_F(SupervisorTest, ACallCanBeMadeAndItsAnswerLost) {
  script.rules = [](const TracedCall& call) { return on(call, "mkdir d", {.kind = Ruling::Kind::lie, .error = EIO}); };
  start("mkdir \"$0/d\"");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  EXPECT_THAT(output(), HasSubstr("Input/output error"));
  EXPECT_THAT(list_tree(cache()), ElementsAre("d/"));
  EXPECT_EQ(script.changes, 1u);
}

TEST_F(SupervisorTest, AWriteCanBeCutShort) {
  int writes = 0;
  script.rules = [&writes](const TracedCall& call) {
    const bool first = call.what == "write f" && ++writes == 1;
    return first ? Ruling{.kind = Ruling::Kind::shorten, .bytes = 2} : Ruling{};
  };
  start("echo hello >\"$0/f\"");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  // The shell is told, and writes the rest.
  EXPECT_EQ(script.done, (std::vector<std::string>{"open f O_WRONLY|O_CREAT|O_TRUNC = 3", "close f = 0", "write f = 2",
                                                   "write f = 4"}));
  EXPECT_EQ(read_file(join(cache(), "f")).value(), "hello\n");
}

TEST_F(SupervisorTest, AWriteThatGathersCanBeCutShort) {
  int writes = 0;
  script.rules = [&writes](const TracedCall& call) {
    const bool first = call.what == "write f" && ++writes == 1;
    return first ? Ruling{.kind = Ruling::Kind::shorten, .bytes = 5} : Ruling{};
  };
  start("python3 -c 'import os, sys\nf = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "parts = [b\"abc\", b\"defg\", b\"h\"]\nn = os.writev(f, parts)\nprint(n, parts)\n"
        "os.writev(f, parts)' \"$0/f\"");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  EXPECT_THAT(output(), HasSubstr("5 [b'abc', b'defg', b'h']"));
  // The second one shows that the list was put back.
  EXPECT_EQ(read_file(join(cache(), "f")).value(), "abcdeabcdefgh");
}

TEST_F(SupervisorTest, ALockThatFailedIsAskedAboutAgain) {
  int asked = 0;
  script.rules = [&asked](const TracedCall& call) {
    const bool lock = call.what.starts_with("flock ") && ++asked <= 2;
    return lock ? Ruling{.kind = Ruling::Kind::fail, .error = ENOLCK} : Ruling{};
  };
  start("exec 9>\"$0/lock\"; flock 9; python3 -c 'import fcntl\nfor i in range(3):\n try: fcntl.flock(9, 2); print(\"got it\")\n"
        " except OSError as e: print(e)'");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  EXPECT_EQ(asked, 4);
  EXPECT_THAT(output(), HasSubstr("[Errno 37] No locks available\ngot it\ngot it"));
}

TEST_F(SupervisorTest, ACallIsHeldUntilItIsReleased) {
  Ruling::Kind kind = Ruling::Kind::hold;
  script.rules = [&kind](const TracedCall& call) { return on(call, "mkdir d", {.kind = kind}); };
  start("mkdir \"$0/d\" & sleep 100; wait");
  EXPECT_EQ(run(), Supervisor::Halt::held);
  EXPECT_TRUE(supervisor->anybody_held());
  EXPECT_THAT(list_tree(cache()), IsEmpty());
  // Asked again, it may as well stay.
  ASSERT_TRUE(supervisor->release());
  EXPECT_EQ(run(), Supervisor::Halt::held);
  kind = Ruling::Kind::go;
  ASSERT_TRUE(supervisor->release());
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  EXPECT_THAT(list_tree(cache()), ElementsAre("d/"));
}

TEST_F(SupervisorTest, EverybodyStandsWhileItIsFrozen) {
  start("i=0; while :; do i=$((i+1)); echo $i >>\"$0/f\"; done & while :; do :; done");
  const auto halt = supervisor->run([this] { return script.changes >= 20; });
  ASSERT_TRUE(halt);
  EXPECT_EQ(*halt, Supervisor::Halt::done);
  ASSERT_TRUE(supervisor->freeze([this]() -> Result<void> {
    for (const TracedProcess& process : supervisor->processes()) EXPECT_EQ(proc_stat(process.pid)->state, 't');
    return {};
  }));
  const std::size_t before = script.changes;
  const auto more = supervisor->run([&] { return script.changes >= before + 20; });
  ASSERT_TRUE(more);
  EXPECT_EQ(*more, Supervisor::Halt::done);
  end();
}

TEST_F(SupervisorTest, ForksWithoutEndAreStoppedAndNoneIsLeft) {
  options.most_processes = 100;
  start("mkfifo \"$0/ready\"; exec 3<>\"$0/ready\"; exec " + test_program("fork_storm") + " \"$0/ready\"");
  EXPECT_EQ(run(), Supervisor::Halt::too_many) << supervisor->processes().size();
  end();
}

// A parent that is killed while it starts children never tells of the last of them.
TEST_F(SupervisorTest, AKillAmongForksLeavesNobodyStanding) {
  for (int round = 0; round < 30; ++round) {
    start(
        "trap '' TERM; f() { for i in 1 2 3 4 5 6; do (:) & (:) & (:) & done; }; f; mkdir \"$0/d$$\"; while :; do f; "
        "done");
    const std::size_t at = 3 + static_cast<std::size_t>(round);
    const auto halt = supervisor->run([&] { return supervisor->processes().size() > at; });
    ASSERT_TRUE(halt);
    supervisor->kill_process(0);
    // What it has started goes on to its own end.
    EXPECT_EQ(run(), Supervisor::Halt::all_ended);
    EXPECT_EQ(supervisor->living(0), 0u);
  }
}

TEST_F(SupervisorTest, TheLimitEndsOneThatNeverWaits) {
  options.limit = milliseconds(300);
  start("while :; do :; done");
  EXPECT_EQ(run(), Supervisor::Halt::limit);
  supervisor->kill_worker(0);
  Supervisor::Halt last = run();
  while (last == Supervisor::Halt::limit) last = run();
  EXPECT_EQ(last, Supervisor::Halt::all_ended);
}

// Somebody outside may let go of it: no proof, and given up after a while.
TEST_F(SupervisorTest, ALockThatIsHeldOutsideOfTheTreeProvesNothing) {
  options.outside_limit = milliseconds(200);
  const Fd held = std::move(open_fd(join(cache(), "lock"), O_RDWR | O_CREAT).value());
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(held.get(), F_SETLK, &whole), 0);
  start("python3 -ISc 'import fcntl, sys; fcntl.lockf(open(sys.argv[1], \"r+\"), fcntl.LOCK_EX)' \"$0/lock\"; :");
  EXPECT_EQ(run(), Supervisor::Halt::stuck);
  EXPECT_TRUE(supervisor->stuck().outside);
  end();
}

// No stop tells that it was let go of.
TEST_F(SupervisorTest, ALockThatSomebodyOutsideLetsGoOfIsTaken) {
  auto held = open_fd(join(cache(), "lock"), O_RDWR | O_CREAT);
  ASSERT_TRUE(held);
  ASSERT_EQ(::flock(held->get(), LOCK_EX | LOCK_NB), 0);
  start("exec 9<>\"$0/lock\"; flock -w 600 9 || exit 1; mkdir \"$0/d\"");
  std::thread other([&held] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    held->close();
  });
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  other.join();
  EXPECT_THAT(list_tree(cache()), ElementsAre("d/", "lock")) << "its limit of ten minutes did not end at once";
}

TEST_F(SupervisorTest, OneThatIsStoppedIsToldOf) {
  start("mkdir \"$0/d\"; kill -STOP $$");
  EXPECT_EQ(run(), Supervisor::Halt::stuck);
  ASSERT_EQ(supervisor->stuck().waiting.size(), 1u);
  EXPECT_EQ(supervisor->stuck().waiting[0].how, Supervisor::Waiting::How::stopped);
  end();
}

TEST_F(SupervisorTest, AProgramsNameHasNoSeparatorInARole) {
  ASSERT_TRUE(write_file(join(cache(), "a|b: c.sh"), "#!/bin/sh\nmkdir \"$1/d\"\n", 0755));
  start("\"$0/a|b: c.sh\" \"$0\"; :");
  EXPECT_EQ(run(), Supervisor::Halt::all_ended);
  const auto& processes = supervisor->processes();
  EXPECT_TRUE(std::any_of(processes.begin(), processes.end(), [](const TracedProcess& process) { return process.role == "A/a_b_ c.sh"; }));
}

}  // namespace
}  // namespace jitrace
