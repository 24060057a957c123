#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/file.h"
#include "base/temp_dir.h"
#include "unit/base/fixture.h"
#include "unit/trace/seized.h"

namespace jitrace {
namespace {

const std::string program = std::string(JITRACE_LIBEXEC) + "/traced";

// `traced` under a tracer, with a signal ignored that it is not to hand on; its messages go to `messages`.
Seized run(std::vector<std::string> argv, const std::string& messages) {
  return Seized(Seized::Waits::in_body, [&](int go) {
    ::signal(SIGPIPE, SIG_IGN);
    ::setenv("PATH", "/usr/bin:/bin", 1);  // a directory there that we may not read would change the answer
    const int out = ::open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(out, 2);
    const std::string descriptor = std::to_string(go);
    std::vector<char*> pointers = {const_cast<char*>(program.c_str()), const_cast<char*>(descriptor.c_str()),
                                   const_cast<char*>("files"), const_cast<char*>("--")};
    for (std::string& word : argv) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    return 97;
  });
}

TEST(Traced, BecomesTheProgramUnderTheFilter) {
  const TempDir dir = scratch();
  const std::string file = join(dir.path(), "made");
  const Seized child = run({"sh", "-c", "echo x > " + file + "; exit 5"}, join(dir.path(), "messages"));
  ASSERT_TRUE(WIFEXITED(child.status));
  EXPECT_EQ(WEXITSTATUS(child.status), 5);
  EXPECT_EQ(read_file(file).value(), "x\n");
  EXPECT_GT(child.count(SYS_openat), 0);
  EXPECT_GT(child.count(SYS_write), 0);
  EXPECT_EQ(read_file(join(dir.path(), "messages")).value(), "");
}

TEST(Traced, NothingOfItsOwnStops) {
  const TempDir dir = scratch();
  const Seized child = run({"true"}, join(dir.path(), "messages"));
  // The tries of the second exec, one a directory on PATH; the first is that of `traced`, which has no filter yet. Then
  // comes the loader of the program.
  const auto first = std::find_if(child.stops.begin(), child.stops.end(),
                                  [](const Seized::Stop& stop) { return stop.number != SYS_execve; });
  ASSERT_NE(first, child.stops.end());
  EXPECT_NE(first, child.stops.begin());
  EXPECT_TRUE(first->number == SYS_access || first->number == SYS_openat) << name_of_call(first->number);
}

TEST(Traced, HandsOnNoIgnoredSignal) {
  const TempDir dir = scratch();
  const Seized child = run({"sh", "-c", "kill -PIPE $$"}, join(dir.path(), "messages"));
  ASSERT_TRUE(WIFSIGNALED(child.status));
  EXPECT_EQ(WTERMSIG(child.status), SIGPIPE);
}

TEST(Traced, SaysWhyItCannotRun) {
  const TempDir dir = scratch();
  const std::string messages = join(dir.path(), "messages");
  const Seized missing = run({"no-such-program-at-all"}, messages);
  EXPECT_EQ(WEXITSTATUS(missing.status), 127);
  EXPECT_EQ(read_file(messages).value(), "traced: cannot run no-such-program-at-all: No such file or directory\n");
  const Seized directory = run({dir.path()}, messages);
  EXPECT_EQ(WEXITSTATUS(directory.status), 126);
  EXPECT_EQ(read_file(messages).value(), "traced: cannot run " + dir.path() + ": Permission denied\n");
}

TEST(Traced, EndsWithItsTracer) {
  int go[2], out[2];
  ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(go[0], 9);
    ::dup2(out[1], 2);
    ::execl(program.c_str(), program.c_str(), "9", "files", "--", "true", nullptr);
    ::_exit(97);
  }
  ::close(go[0]);
  ::close(go[1]);  // nobody will ever let it go
  ::close(out[1]);
  char text[200] = {};
  EXPECT_GT(::read(out[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "traced: the tracer went away before it let the program start\n");
  ::close(out[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 125);
}

}  // namespace
}  // namespace jitrace
