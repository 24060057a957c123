#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "process/process.h"
#include "strategy/lock/lock.h"
#include "strategy/lock/record.h"
#include "unit/strategy/recorder.h"

namespace jitrace {
namespace {

using testing::Contains;
using testing::HasSubstr;

LockChoice choice_of(LockKind kind, Nanoseconds poll = milliseconds(5)) {
  LockChoice choice;
  choice.kind = kind;
  choice.poll = poll;
  return choice;
}

class LockTest : public testing::Test {
 protected:
  std::unique_ptr<Lock> make(const LockChoice& choice) { return make_lock(choice, path_, files_, bench_.job, 0); }

  Bench bench_;
  Recorder recorder_;
  Files files_{recorder_, bench_.job.root};
  std::string path_ = bench_.job.root + "/lock";
};

TEST(BoundRule, IsTheLargerOfTheFloorAndAMultipleOfTheBaseline) {
  const LockChoice gptqmodel = find_preset("gptqmodel-flock")->locks[0];
  EXPECT_EQ(bound_of(gptqmodel, 0, 1.0), seconds(600));
  EXPECT_EQ(bound_of(gptqmodel, seconds(119), 1.0), seconds(600));
  EXPECT_EQ(bound_of(gptqmodel, seconds(120), 1.0), seconds(600));
  EXPECT_EQ(bound_of(gptqmodel, seconds(121), 1.0), seconds(605));
  EXPECT_EQ(bound_of(gptqmodel, seconds(121), 0.001), milliseconds(605));
  EXPECT_EQ(bound_of(find_preset("torch-flock")->locks[0], seconds(1000), 1.0), 0) << "none stays none";
}

// Every kind: eight at once, twenty times, never two owners.
class Exclusive : public LockTest, public testing::WithParamInterface<LockKind> {};

TEST_P(Exclusive, EightThreadsNeverOwnItTogether) {
  std::atomic<int> inside = 0;
  std::atomic<int> owners = 0;
  std::atomic<bool> two = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const std::unique_ptr<Lock> lock = make(choice_of(GetParam(), milliseconds(1)));
        if (lock->acquire() != Acquired::owner) continue;
        if (inside.fetch_add(1) != 0) two = true;
        ++owners;
        std::this_thread::yield();
        inside.fetch_sub(1);
        lock->release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(two);
  if (GetParam() == LockKind::baton) {
    EXPECT_GE(owners, 1);
  } else {
    EXPECT_EQ(owners, 160);
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, Exclusive, testing::Values(LockKind::baton, LockKind::flock, LockKind::ofd),
                         [](const testing::TestParamInfo<LockKind>& kind) { return std::string(name_of(kind.param)); });

TEST_F(LockTest, BatonLoserWaitsForTheFileToGoAndDoesNotOwnIt) {
  ASSERT_TRUE(write_file(path_, ""));
  std::thread remover([&] {
    while (recorder_.lines_with("wait absent").empty()) std::this_thread::yield();
    ASSERT_TRUE(remove_file(path_));
  });
  EXPECT_EQ(make(choice_of(LockKind::baton))->acquire(), Acquired::loser);
  remover.join();
  EXPECT_FALSE(exists(path_));
  EXPECT_EQ(recorder_.lines_with("wait ").size(), 1u) << "once a wait, not once a poll";
}

TEST_F(LockTest, BatonTellsAMissingDirectoryFromContention) {
  path_ = bench_.job.root + "/absent/lock";
  const std::unique_ptr<Lock> lock = make(choice_of(LockKind::baton));
  EXPECT_EQ(lock->acquire(), Acquired::failed);
  EXPECT_THAT(lock->reason(), HasSubstr("No such file"));
}

TEST_F(LockTest, BatonOutlivesItsOwner) {
  make(choice_of(LockKind::baton))->acquire();
  EXPECT_TRUE(exists(path_));
}

TEST_F(LockTest, PolledFlockGivesUpAtItsBoundAndAnnouncesOneWait) {
  const std::unique_ptr<Lock> holder = make(choice_of(LockKind::flock));
  ASSERT_EQ(holder->acquire(), Acquired::owner);
  recorder_.take();
  LockChoice bounded = choice_of(LockKind::flock);
  bounded.bound = milliseconds(60);
  const Nanoseconds begin = now();
  const std::unique_ptr<Lock> waiter = make(bounded);
  EXPECT_EQ(waiter->acquire(), Acquired::at_bound);
  EXPECT_GE(now() - begin, milliseconds(60));
  EXPECT_THAT(recorder_.take(), testing::ElementsAre("@lock_wait lock", "op create lock", "op flock lock !11",
                                                     "wait flock lock", "over 1"));
}

TEST_F(LockTest, EveryErrorIsContentionWhereTheSystemThinksSo) {
  path_ = bench_.job.root + "/absent/lock";
  LockChoice choice = choice_of(LockKind::flock);
  choice.bound = milliseconds(30);
  EXPECT_EQ(make(choice)->acquire(), Acquired::failed);
  choice.on_error = LockError::contention;
  EXPECT_EQ(make(choice)->acquire(), Acquired::at_bound);
}

// Removing the file of a held flock splits the lock: who opens by name gets another file.
TEST_F(LockTest, UnlinkedFlockFileLetsASecondOwnerIn) {
  LockChoice choice = choice_of(LockKind::flock);
  choice.reopens = true;
  const std::unique_ptr<Lock> first = make(choice);
  ASSERT_EQ(first->acquire(), Acquired::owner);
  ASSERT_TRUE(remove_file(path_));
  const std::unique_ptr<Lock> second = make(choice);
  EXPECT_EQ(second->acquire(), Acquired::owner);
  EXPECT_NE(first->inode(), second->inode());
}

TEST_F(LockTest, ReopeningWaiterLeavesAnUnlinkedFileAndAnnouncesTheNewOne) {
  LockChoice choice = choice_of(LockKind::flock);
  const std::unique_ptr<Lock> first = make(choice);
  ASSERT_EQ(first->acquire(), Acquired::owner);
  Fd other_file;
  std::thread remover([&] {
    while (recorder_.lines_with("wait flock").empty()) std::this_thread::yield();
    ASSERT_TRUE(write_file(path_ + ".new", ""));
    other_file = *open_fd(path_ + ".new", O_RDWR);
    ASSERT_EQ(::flock(other_file.get(), LOCK_EX), 0);
    ASSERT_EQ(::rename((path_ + ".new").c_str(), path_.c_str()), 0);
    while (recorder_.lines_with("wait flock").size() < 2) std::this_thread::yield();
    other_file.close();
  });
  choice.reopens = true;
  EXPECT_EQ(make(choice)->acquire(), Acquired::owner);
  remover.join();
}

// M9: a flock lives as long as any copy of the open file description.
class Inherited : public LockTest, public testing::WithParamInterface<InheritLock> {};

TEST_P(Inherited, LockOutlivesItsHolderExactlyIfTheChildHasTheDescriptor) {
  LockChoice choice = choice_of(LockKind::flock, 0);
  choice.inherit = GetParam();
  const std::string said = bench_.job.scratch + "/child";
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    const std::unique_ptr<Lock> lock = make(choice);
    if (lock->acquire() != Acquired::owner) ::_exit(1);
    Command command;
    command.argv = {"sleep", GetParam() == InheritLock::no ? "1000" : "0.4"};
    if (lock->descriptor() >= 0) command.inherit = {lock->descriptor()};
    Result<Process> child = Process::spawn(command);
    if (!child || !write_file(said, std::to_string(child->pid()))) ::_exit(2);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, 0), holder);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string child = *read_file(said);
  const std::unique_ptr<Lock> next = make(choice_of(LockKind::flock, 0));
  ASSERT_EQ(next->acquire(), Acquired::owner);
  // Its arguments are to be read only a moment after its exec; its program is from then on, and until it ends.
  char program[4096];
  const bool child_lives = ::readlink(("/proc/" + child + "/exe").c_str(), program, sizeof program) > 0;
  EXPECT_EQ(child_lives, GetParam() == InheritLock::no);
  if (GetParam() == InheritLock::no) ::kill(static_cast<pid_t>(std::stol(child)), SIGKILL);
}
INSTANTIATE_TEST_SUITE_P(Both, Inherited, testing::Values(InheritLock::no, InheritLock::yes),
                         [](const testing::TestParamInfo<InheritLock>& inherit) {
                           return std::string(inherit.param == InheritLock::yes ? "inherited" : "close_on_exec");
                         });

TEST_F(LockTest, RecordExtendsTheBoundWhileTheCompilerLives) {
  LockChoice choice = choice_of(LockKind::flock);
  choice.bound = milliseconds(30);
  choice.bound_times = 5;
  choice.keeps_record = true;
  const std::unique_ptr<Lock> holder = make(choice);
  ASSERT_EQ(holder->acquire(), Acquired::owner);
  Command command;
  command.argv = {"sleep", "0.3"};
  const Nanoseconds begin = now();
  Result<Process> compiler = Process::spawn(command);
  ASSERT_TRUE(compiler);
  holder->note_compiler(compiler->pid());
  std::thread reaper([&] { EXPECT_TRUE(compiler->wait()); });
  EXPECT_EQ(make(choice)->acquire(), Acquired::at_bound);
  EXPECT_GE(now() - begin, milliseconds(200));
  reaper.join();
  holder->note_compile_time(milliseconds(40));  // 5 × 40 ms is more than the floor
  const Nanoseconds again = now();
  EXPECT_EQ(make(choice)->acquire(), Acquired::at_bound);
  EXPECT_GE(now() - again, milliseconds(200));
}

TEST(LockRecord, NamesAProcessForEver) {
  const LockRecord::Who self = LockRecord::identify(::getpid());
  LockRecord record;
  record.compiler = self;
  EXPECT_TRUE(record.compiler_lives());
  ++record.compiler.start_ticks;  // another process of the same number
  EXPECT_FALSE(record.compiler_lives());
  record.compiler = self;
  record.compiler.host = "elsewhere";
  EXPECT_FALSE(record.compiler_lives());
}

}  // namespace
}  // namespace jitrace
