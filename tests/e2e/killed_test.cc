// The driver itself is killed, at 50 moments: the guards end what it started, and nothing of it stays.

#include <poll.h>
#include <signal.h>

#include "base/file.h"
#include "base/rng.h"
#include "e2e/fixture.h"
#include "support/private_mount.h"

namespace jitrace::test {
namespace {

class Killed : public E2eTest {
 protected:
  // Something of everything that could stay: waiters that poll a dead owner's lock for ever, waiters in flock(2) behind a
  // holder that was stopped, a compiler that was stopped and so never ends, a daemon, ninja.
  std::string everything() const {
    return scenario("[scenario]\nname = \"everything\"\n[workload]\ntoolchains = [\"fake\"]\nworkers = 4\ntrials = 1\nfake_ms = 100\n"
                    "watchdog_s = 60\nrounds = 2\n"
                    "[[subject]]\npreset = \"torch-baton\"\n[[subject]]\npreset = \"torch-flock\"\n[[subject]]\npreset = \"daemon\"\n"
                    "[[fault]]\nname = \"none\"\n"
                    "[[fault]]\nname = \"kill\"\nwho = \"builder\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n"
                    "[[fault]]\nname = \"stop\"\nwho = \"builder\"\nat = \"compile\"\nwhat = \"stop\"\nsubjects = [\"torch-flock\"]\n"
                    "[[fault]]\nname = \"stop-compiler\"\nwho = \"compiler\"\nat = \"compile\"\nwhat = \"stop\"\nsubjects = [\"torch-flock\"]\n");
  }

  std::vector<std::string> arguments(int n) const {
    std::vector<std::string> all = {"run", path_, "--out", at("out-" + std::to_string(n)), "--cache", cache_, "--jobs", "2"};
    all.insert(all.end(), flags_.begin(), flags_.end());
    return all;
  }

  // Until the moment has come, or the driver has ended before it. True: it still runs.
  static bool wait_until(Driver& driver, Nanoseconds moment) {
    for (;;) {
      const Nanoseconds left = moment - now();
      if (left <= 0) return true;
      const timespec patience{left / seconds(1), left % seconds(1)};
      pollfd ended{driver.process().pidfd().get(), POLLIN, 0};
      if (::ppoll(&ended, 1, &patience, nullptr) > 0) return false;
    }
  }

  // Starts a run and sends it the signal at that moment. False: it had ended before.
  bool strike(int n, Nanoseconds moment, int number, int whole_code) const {
    Driver driver = start(arguments(n));
    const bool struck = wait_until(driver, now() + moment) && driver.process().signal(number).has_value();
    const Ran ran = driver.finish();
    EXPECT_NE(ran.code, -1) << "it had to be killed";
    const std::string out = at("out-" + std::to_string(n));
    if (number == SIGINT && struck && exists(out + "/run")) {
      EXPECT_TRUE(ran.code == 130 || ran.code == whole_code) << ran.code << ran.err;
      EXPECT_TRUE(exists(out + "/report.json")) << ran.err;
    }
    return struck && (number != SIGKILL || ran.code == 128 + SIGKILL);
  }

  // Sends the signal at `count` moments spread over a run, and holds after each that nothing is left.
  void at_moments(int count, std::uint64_t seed, int number) {
    path_ = everything();
    // On a file system of its own the kernel itself says whether anybody still has anything there.
    ASSERT_TRUE(make_dirs(at("mount")));
    auto mount = PrivateMount::create(at("mount"), "size=64m");
    cache_ = mount ? at("mount") : cache();
    const std::vector<std::string> mounts = mount ? std::vector<std::string>{at("mount")} : std::vector<std::string>{};
    const Ran whole = run(arguments(0));
    ASSERT_TRUE(whole.code == 0 || whole.code == 1) << whole.err << whole.out;
    Nanoseconds length = whole.took;
    Rng rng(seed);
    int runs = 0;
    for (int n = 0; n < count && !HasFailure(); ++n) {
      // One in each of `count` slices, so that they are spread over the run, at random within it.
      const auto permille = static_cast<Nanoseconds>(n * 1000 + static_cast<int>(rng.below(1000))) / count;
      for (bool struck = false; !struck && !HasFailure();) {
        const Nanoseconds moment = length / 1000 * permille;
        SCOPED_TRACE("moment " + std::to_string(n) + ", " + std::to_string(moment / milliseconds(1)) + " ms of " +
                     std::to_string(length / milliseconds(1)));
        struck = strike(++runs, moment, number, whole.code);
        expect_nothing_left(mounts);
        EXPECT_EQ(lines_of(caches_in(cache_)), "");
        expect_user_files_untouched();
        // The machine has less to do than when the run was measured: it was over before its moment.
        if (!struck) length = length * 9 / 10;
      }
    }
    if (mount) {
      const auto unmounted = mount->unmount();
      EXPECT_TRUE(unmounted) << unmounted.error().message();
    }
  }

  std::string path_;
  std::string cache_;
  std::vector<std::string> flags_;
};

TEST_F(Killed, NothingStaysAfterSigkillAt50Moments) { at_moments(50, 0x5159, SIGKILL); }
// ninja, g++, cc1plus, as and ld, and their temporary files.
TEST_F(Killed, NothingStaysOfARealCompilerAtFiveMoments) {
  Command command;
  command.argv = {"g++", "-dumpversion"};
  if (!run_to_end(command)) GTEST_SKIP() << "no g++ here";
  flags_ = {"--toolchain", "cxx", "--strategy", "torch-flock"};
  at_moments(5, 0x9199, SIGKILL);
}

TEST_F(Killed, NothingStaysAfterSigintAt12Moments) { at_moments(12, 0x1217, SIGINT); }

}  // namespace
}  // namespace jitrace::test
