#include "trace/scope.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/file.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

// A process that is somewhere: it runs a step, says so and stays. Tests then ask what it would see.
class Bystander {
 public:
  using Step = std::function<bool()>;
  explicit Bystander(const Step& enter, const Step& later = [] { return false; }) {
    int ready[2], go[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(go, O_CLOEXEC), 0);
    ready_ = Fd(ready[0]);
    go_ = Fd(go[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      char byte = 0;
      for (const Step& step : {enter, later}) {
        const char answer = step() ? 'y' : 'n';
        if (::write(ready[1], &answer, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(1);
      }
      for (;;) ::pause();
    }
    ::close(ready[1]);
    ::close(go[0]);
    entered = did();
  }
  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  pid_t pid() const { return pid_; }
  bool go_on() { return ::write(go_.get(), "g", 1) == 1 && did(); }
  bool entered = false;

 private:
  bool did() {
    char answer = 'n';
    return ::read(ready_.get(), &answer, 1) == 1 && answer == 'y';
  }
  pid_t pid_ = -1;
  Fd ready_, go_;
};

using Name = std::optional<std::string>;

class ScopeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(cache + "/sub/deep"));
    ASSERT_TRUE(make_dirs(top + "/cachelike"));
    ASSERT_TRUE(make_dirs(top + "/other"));
    ASSERT_TRUE(write_file(cache + "/sub/file", "x"));
  }
  Name of(const std::string& path, bool follows = true) { return scope().of_path(::getpid(), AT_FDCWD, path, follows); }
  Scope& scope() {
    if (!scope_) scope_ = std::move(Scope::create(cache, {top + "/cache.lock", top + "/tmp/late"}).value());
    return *scope_;
  }
  bool link(const std::string& content, const std::string& at) { return ::symlink(content.c_str(), at.c_str()) == 0; }

  TempDir dir = scratch();
  std::string top = dir.path();
  std::string cache = top + "/cache";
  std::optional<Scope> scope_;
};

TEST_F(ScopeTest, AbsolutePaths) {
  for (int round = 0; round < 2; ++round) {  // asked, then remembered
    EXPECT_EQ(of(cache), ".");
    EXPECT_EQ(of(cache + "/"), ".");
    EXPECT_EQ(of(cache + "/."), ".");
    EXPECT_EQ(of(cache + "/lock"), "lock");
    EXPECT_EQ(of(cache + "/sub/file"), "sub/file");
    EXPECT_EQ(of(cache + "//sub/./deep/../file"), "sub/file");
    EXPECT_EQ(of(cache + "/sub/.."), ".");
    EXPECT_EQ(of(cache + "/.."), Name());
    EXPECT_EQ(of(cache + "/../other/x"), Name());
    EXPECT_EQ(of(top + "/other/../cache/x"), "x");
    EXPECT_EQ(of(top + "/cachelike/x"), Name());
    EXPECT_EQ(of(top + "/cachelike"), Name());
    EXPECT_EQ(of("/"), Name());
    EXPECT_EQ(of(""), Name());
  }
}

TEST_F(ScopeTest, TheDirectoryAroundMayBelongToItToo) {
  scope_ = std::move(Scope::create(cache, {"/elsewhere"}, top).value());
  EXPECT_EQ(of(cache + ".lock"), "../cache.lock");
  EXPECT_EQ(of(cache + "/../other/x"), "../other/x");
  EXPECT_EQ(of(top + "/cachelike"), "../cachelike");
  EXPECT_EQ(of(cache + "/lock"), "lock");
  EXPECT_EQ(of(cache), ".");
  EXPECT_EQ(of("/elsewhere"), "/elsewhere");
  // The directory alone is where it always was.
  EXPECT_EQ(of(top), Name());
  EXPECT_EQ(of(top + "x"), Name());
}

TEST_F(ScopeTest, WhatDoesNotExistYet) {
  EXPECT_EQ(of(cache + "/no/such/file"), "no/such/file");
  EXPECT_EQ(of(cache + "/no/../file"), "file");
  EXPECT_EQ(of(cache + "/no/../../other/x"), Name());
  EXPECT_EQ(of(top + "/none/../cache/x"), "x");
  EXPECT_EQ(of(cache + "/sub/file/below"), "sub/file/below");
  // It may come as a link, and is looked at anew.
  ASSERT_TRUE(link(top + "/other", cache + "/no"));
  EXPECT_EQ(of(cache + "/no/such"), Name());
}

TEST_F(ScopeTest, Beside) {
  EXPECT_EQ(of(top + "/cache.lock"), top + "/cache.lock");
  EXPECT_EQ(of(top + "/cache.lock2"), Name());
  EXPECT_EQ(of(top + "/tmp/late"), top + "/tmp/late");
  EXPECT_EQ(of(top + "/tmp/late/x"), top + "/tmp/late/x");
  ASSERT_TRUE(make_dirs(top + "/tmp/late"));
  EXPECT_EQ(of(top + "/tmp/late/x"), top + "/tmp/late/x");
}

TEST_F(ScopeTest, WhatIsOutsideHasItsPath) {
  const auto outside = [&](const std::string& path) { return scope().outside(::getpid(), AT_FDCWD, path, true); };
  EXPECT_EQ(outside(top + "/other/../other/x"), top + "/other/x");
  EXPECT_EQ(outside(top + "/cache.lock"), top + "/cache.lock") << "whether it belongs to the cache or not";
  EXPECT_EQ(outside(cache + "/x"), Name());
  EXPECT_EQ(outside(""), Name());
}

TEST_F(ScopeTest, TemporaryFilesAreNamedAlikeInEachTrial) {
  ASSERT_TRUE(link(top + "/other", top + "/by-link"));
  for (const std::string& told : {top + "/other", top + "/by-link"}) {
    scope_ = std::move(Scope::create(cache, {told + "/lock"}).value());
    scope().set_temporary(told);
    EXPECT_EQ(of(told + "/lock"), "$TMPDIR/lock");
    EXPECT_EQ(of(told + "/lock/x"), "$TMPDIR/lock/x");
    EXPECT_EQ(of(told + "/other"), Name());
    EXPECT_EQ(scope().of_other(told + "/c"), "$TMPDIR/c");
    EXPECT_EQ(scope().real_path("$TMPDIR/lock"), told + "/lock");
  }
  EXPECT_EQ(scope().real_path("sub/x"), cache + "/sub/x");
  EXPECT_EQ(scope().real_path("/locks/x"), "/locks/x");
}

TEST_F(ScopeTest, Links) {
  ASSERT_TRUE(link("cache", top + "/way"));
  ASSERT_TRUE(link(top + "/way/sub", top + "/other/far"));
  ASSERT_TRUE(link("../cache/sub/file", top + "/other/name"));
  ASSERT_TRUE(link("../other/out", cache + "/leads_out"));
  ASSERT_TRUE(link("loop", top + "/loop"));
  EXPECT_EQ(of(top + "/way"), ".");
  EXPECT_EQ(of(top + "/way", false), Name());
  EXPECT_EQ(of(top + "/way/", false), ".");
  EXPECT_EQ(of(top + "/way/x"), "x");
  EXPECT_EQ(of(top + "/other/far/x"), "sub/x");
  EXPECT_EQ(of(top + "/other/name"), "sub/file");
  EXPECT_EQ(of(top + "/other/name", false), Name());
  EXPECT_EQ(of(cache + "/leads_out"), Name());
  EXPECT_EQ(of(cache + "/leads_out", false), "leads_out");
  EXPECT_EQ(of(top + "/loop"), Name());
}

TEST_F(ScopeTest, ForgetsWhereALinkLed) {
  ASSERT_TRUE(link("cache", top + "/way"));
  EXPECT_EQ(of(top + "/way/x"), "x");
  ASSERT_EQ(::unlink((top + "/way").c_str()), 0);
  ASSERT_TRUE(link("other", top + "/way"));
  scope().forget();
  EXPECT_EQ(of(top + "/way/x"), Name());
}

TEST_F(ScopeTest, ACacheThatWasMadeAnew) {
  EXPECT_EQ(of(cache + "/x"), "x");
  ASSERT_EQ(::rename(cache.c_str(), (top + "/old").c_str()), 0);
  scope().forget();
  EXPECT_EQ(of(cache + "/x"), "x");
  EXPECT_EQ(of(cache), ".");
  ASSERT_TRUE(make_dirs(cache));
  scope().forget();
  EXPECT_EQ(of(cache + "/x"), "x");
  EXPECT_EQ(of(top + "/old/x"), Name());
}

TEST_F(ScopeTest, RelativeToTheDirectoryOfTheProcess) {
  const Bystander child([this] { return ::chdir((cache + "/sub").c_str()) == 0; });
  ASSERT_TRUE(child.entered);
  const auto there = [&](const std::string& path) { return scope().of_path(child.pid(), AT_FDCWD, path, true); };
  EXPECT_EQ(there("file"), "sub/file");
  EXPECT_EQ(there("."), "sub");
  EXPECT_EQ(there(".."), ".");
  EXPECT_EQ(there("../lock"), "lock");
  EXPECT_EQ(there("deep/new"), "sub/deep/new");
  EXPECT_EQ(there("../../other/x"), Name());
  EXPECT_EQ(there("/proc/self/cwd/file"), "sub/file");
}

TEST_F(ScopeTest, RelativeToADescriptor) {
  constexpr int directory = 100, file = 101;
  const Bystander child([&] {
    return ::dup2(::open((cache + "/sub").c_str(), O_PATH | O_DIRECTORY), directory) == directory &&
           ::dup2(::open((cache + "/sub/file").c_str(), O_RDONLY), file) == file && ::chdir("/") == 0;
  });
  ASSERT_TRUE(child.entered);
  const auto at = [&](const std::string& path) { return scope().of_path(child.pid(), directory, path, true); };
  EXPECT_EQ(at("x"), "sub/x");
  EXPECT_EQ(at("../x"), "x");
  EXPECT_EQ(at(top + "/other"), Name());
  EXPECT_EQ(scope().of_descriptor(child.pid(), directory), "sub");
  EXPECT_EQ(scope().of_descriptor(child.pid(), file), "sub/file");
  EXPECT_EQ(scope().of_descriptor(child.pid(), 102), Name());
  const auto path = [&](const std::string& p) { return scope().of_path(child.pid(), AT_FDCWD, p, true); };
  EXPECT_EQ(path("/proc/self/fd/101"), "sub/file");
  EXPECT_EQ(path("/dev/fd/101"), "sub/file");
  EXPECT_EQ(path("/proc/self/fd/100/x"), "sub/x");
  EXPECT_EQ(path("/proc/" + std::to_string(child.pid()) + "/fd/101"), "sub/file");
  EXPECT_EQ(path("/proc/self/fd/100/../../other"), Name());
  EXPECT_EQ(scope().of_path(child.pid(), AT_FDCWD, "/proc/self/fd/101", false), Name());
}

// What /proc shows of a process changes without any call on a path.
TEST_F(ScopeTest, ADescriptorNumberIsGivenAnew) {
  const Bystander other([] { return true; });  // it looks at a descriptor of ours
  const std::string descriptors = "/proc/" + std::to_string(::getpid()) + "/fd/";
  const auto through = [&](int fd) {
    return scope().of_path(other.pid(), AT_FDCWD, descriptors + std::to_string(fd) + "/x", true);
  };
  Fd fd = std::move(open_fd(cache + "/sub", O_PATH | O_DIRECTORY).value());
  const int number = fd.get();
  EXPECT_EQ(through(number), "sub/x");
  EXPECT_EQ(scope().of_path(::getpid(), number, "x", true), "sub/x");
  fd = Fd();
  fd = std::move(open_fd(cache, O_PATH | O_DIRECTORY).value());
  ASSERT_EQ(fd.get(), number);
  EXPECT_EQ(through(number), "x");
  EXPECT_EQ(scope().of_path(::getpid(), number, "x", true), "x");
}

TEST_F(ScopeTest, AProcessThatIsGoneSeesNothingOfItsOwn) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(scope().of_path(child, AT_FDCWD, "x", true), Name());
  EXPECT_EQ(scope().of_descriptor(child, 0), Name());
}

TEST_F(ScopeTest, FilesWithoutAName) {
  const Fd gone = std::move(open_fd(cache + "/gone", O_RDWR | O_CREAT).value());
  const Fd nameless(::open(cache.c_str(), O_RDWR | O_TMPFILE, 0600));
  ASSERT_EQ(::unlink((cache + "/gone").c_str()), 0);
  EXPECT_EQ(scope().of_descriptor(::getpid(), gone.get()), "gone (deleted)");
  if (nameless) {
    const Name name = scope().of_descriptor(::getpid(), nameless.get());
    ASSERT_TRUE(name);
    EXPECT_TRUE(name->ends_with(" (deleted)")) << *name;
  }
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd in(ends[0]), out(ends[1]);
  EXPECT_EQ(scope().of_descriptor(::getpid(), in.get()), Name());
}

TEST_F(ScopeTest, ADescriptorGoesWhereItsFileGoes) {
  const Fd fd = std::move(open_fd(cache + "/before", O_RDWR | O_CREAT).value());
  EXPECT_EQ(scope().of_descriptor(::getpid(), fd.get()), "before");
  ASSERT_EQ(::rename((cache + "/before").c_str(), (cache + "/after").c_str()), 0);
  EXPECT_EQ(scope().of_descriptor(::getpid(), fd.get()), "after");
  ASSERT_EQ(::rename((cache + "/after").c_str(), (top + "/away").c_str()), 0);
  EXPECT_EQ(scope().of_descriptor(::getpid(), fd.get()), Name());
}

class ScopeOfAnotherRoot : public ScopeTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
    ScopeTest::SetUp();
    ASSERT_TRUE(make_dirs(top + "/mnt"));
    ASSERT_TRUE(write_file(top + "/other/file", "x"));
  }
  static bool bind(const std::string& what, const std::string& at) {
    return ::mount(what.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
  }
  static bool own_mounts() {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
};

TEST_F(ScopeOfAnotherRoot, ABindMountOfAnotherNamespace) {
  const Bystander child([this] {
    return own_mounts() && bind(cache, top + "/mnt") && ::chdir((top + "/mnt/sub").c_str()) == 0 &&
           ::dup2(::open("file", O_RDONLY), 100) == 100 && ::dup2(::open("../../mnt", O_PATH), 101) == 101 &&
           ::dup2(::open("../../other/file", O_RDONLY), 102) == 102;
  });
  ASSERT_TRUE(child.entered);
  const auto there = [&](const std::string& path) { return scope().of_path(child.pid(), AT_FDCWD, path, true); };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(there(top + "/mnt/sub/file"), "sub/file");
    EXPECT_EQ(there(top + "/mnt/lock"), "lock");
    EXPECT_EQ(there(top + "/mnt"), ".");
    EXPECT_EQ(there(top + "/mnt/.."), Name());
    EXPECT_EQ(there(cache + "/lock"), "lock");
    EXPECT_EQ(there(top + "/cache.lock"), top + "/cache.lock");
    EXPECT_EQ(there("file"), "sub/file");
    EXPECT_EQ(there("../../other/file"), Name());
    EXPECT_EQ(there(top + "/mnt/no/such"), "no/such");
    EXPECT_EQ(scope().of_descriptor(child.pid(), 100), "sub/file");
    EXPECT_EQ(scope().of_descriptor(child.pid(), 101), ".");
    EXPECT_EQ(scope().of_descriptor(child.pid(), 102), Name());
    EXPECT_EQ(scope().of_path(child.pid(), 101, "sub/new", true), "sub/new");
    EXPECT_EQ(of(top + "/mnt/lock"), Name());  // here nothing is mounted
  }
}

TEST_F(ScopeOfAnotherRoot, ABindMountOfOurs) {
  // The whole test process moves to a namespace of its own, so that nothing is left behind whatever happens.
  const pid_t child = ::fork();
  if (child == 0) {
    if (!own_mounts() || !bind(cache, top + "/mnt")) ::_exit(2);
    const bool right = of(top + "/mnt/sub/file") == "sub/file" && of(top + "/mnt") == "." &&
                       of(top + "/mnt/x") == "x" && of(top + "/mnt/..") == Name();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ScopeOfAnotherRoot, SomethingElseAtTheSameName) {
  const Bystander child([this] { return own_mounts() && bind(top + "/other", cache); });
  ASSERT_TRUE(child.entered);
  EXPECT_EQ(scope().of_path(child.pid(), AT_FDCWD, cache + "/file", true), Name());
  EXPECT_EQ(scope().of_path(child.pid(), AT_FDCWD, cache, true), Name());
  EXPECT_EQ(of(cache + "/file"), "file");
}

TEST_F(ScopeOfAnotherRoot, AnotherRoot) {
  ASSERT_TRUE(link("/cache/sub", top + "/other/absolute"));  // leads to the cache from that root only
  const Bystander child([this] {
    return ::chroot(top.c_str()) == 0 && ::chdir("/cache/sub") == 0 && ::dup2(::open("file", O_RDONLY), 100) == 100;
  });
  ASSERT_TRUE(child.entered);
  const auto there = [&](const std::string& path) { return scope().of_path(child.pid(), AT_FDCWD, path, true); };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(there("/cache/lock"), "lock");
    EXPECT_EQ(there("/cache"), ".");
    EXPECT_EQ(there("/../../cache/x"), "x");
    EXPECT_EQ(there("/other/absolute/y"), "sub/y");
    EXPECT_EQ(there("/other/absolute"), "sub");
    EXPECT_EQ(there("file"), "sub/file");
    EXPECT_EQ(there("../../other/file"), Name());
    EXPECT_EQ(scope().of_descriptor(child.pid(), 100), "sub/file");
    EXPECT_EQ(of("/cache/lock"), Name());
  }
}

TEST_F(ScopeOfAnotherRoot, ARootThatChanges) {
  Bystander child([] { return true; }, [this] { return ::chroot(top.c_str()) == 0; });
  EXPECT_EQ(scope().of_path(child.pid(), AT_FDCWD, "/cache/lock", true), Name());
  ASSERT_TRUE(child.go_on());
  scope().forget();
  EXPECT_EQ(scope().of_path(child.pid(), AT_FDCWD, "/cache/lock", true), "lock");
}

}  // namespace
}  // namespace jitrace
