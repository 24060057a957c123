#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

TEST(Error, MessagesNameOperationPathCauseAndNote) {
  EXPECT_EQ(make_error("open", "/x", ENOENT).message(), "open /x: No such file or directory");
  EXPECT_EQ(make_error("open", "/x", ENOENT, "is it mounted?").message(),
            "open /x: No such file or directory (is it mounted?)");
  EXPECT_EQ(make_error("fork", "", EAGAIN).message(), "fork: Resource temporarily unavailable");
  EXPECT_EQ(plain_error("read plan", "it is empty").message(), "read plan: it is empty");
}

TEST(Error, LastErrorTakesErrno) {
  errno = EROFS;
  const Error error = last_error("write", "/y");
  EXPECT_EQ(error.code, EROFS);
  EXPECT_EQ(error.path, "/y");
}

Result<int> half(int value) {
  if (value % 2 != 0) return plain_error("halve", "it is odd");
  return value / 2;
}

Result<int> quarter(int value) {
  TRY_ASSIGN(const int once, half(value));
  TRY(half(once));
  return half(once);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().note, "it is odd");
  EXPECT_FALSE(quarter(1));
}

TEST(ResultDeathTest, TheValueOfAnErrorAborts) {
  EXPECT_DEATH(quarter(1).value(), "jitrace: bug: .*halve: it is odd");
}

TEST(CheckDeathTest, ABrokenPromiseAbortsWithItsPlace) {
  EXPECT_DEATH(JITRACE_CHECK(1 + 1 == 3), "error_test.cc:[0-9]+: 1 \\+ 1 == 3 does not hold");
}

TEST(Fd, OwnsItsDescriptor) {
  int number = -1;
  {
    const Fd fd = std::move(open_fd("/dev/null", O_RDONLY).value());
    number = fd.get();
    EXPECT_EQ(::fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Fd, MovesAndReleases) {
  Fd a = std::move(open_fd("/dev/null", O_RDONLY, 0, Inherit::yes).value());
  const int number = a.get();
  EXPECT_EQ(::fcntl(number, F_GETFD), 0);
  Fd b = std::move(open_fd("/dev/null", O_RDONLY).value());
  const int replaced = b.get();
  b = std::move(a);
  EXPECT_EQ(::fcntl(replaced, F_GETFD), -1);
  EXPECT_EQ(b.get(), number);
  EXPECT_FALSE(a);
  EXPECT_EQ(b.release(), number);
  EXPECT_FALSE(b);
  EXPECT_EQ(::close(number), 0);
}

TEST(Fd, OpeningSaysWhat) {
  const auto missing = open_fd("/does/not/exist", O_RDONLY);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_EQ(missing.error().path, "/does/not/exist");
}

}  // namespace
}  // namespace jitrace
