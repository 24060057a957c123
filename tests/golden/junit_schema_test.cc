// The XML against junit.xsd, by xmllint. Skipped where that is not installed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "golden/sample_matrix.h"
#include "golden/sample_report.h"
#include "reports/junit.h"
#include "reports/matrix.h"

namespace jitrace {
namespace {

int validate(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("xmllint", "xmllint", "--noout", "--nonet", "--schema", JITRACE_SOURCE_DIR "/tests/golden/junit.xsd",
             path.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class JunitSchema : public testing::Test {
 protected:
  int check(const std::string& xml) {
    const char* parent = std::getenv("TMPDIR");
    auto dir = TempDir::create(parent != nullptr ? parent : "/tmp", "jitrace-junit-");
    EXPECT_TRUE(dir);
    const std::string path = join(dir->path(), "junit.xml");
    EXPECT_TRUE(write_file(path, xml));
    return validate(path);
  }
};

TEST_F(JunitSchema, TheSampleIsValid) {
  const int code = check(render_junit(sample_report()));
  if (code == 127) GTEST_SKIP() << "xmllint is not installed";
  EXPECT_EQ(code, 0);
}

TEST_F(JunitSchema, ARunWithoutCellsIsValid) {
  const int code = check(render_junit(Report{}));
  if (code == 127) GTEST_SKIP() << "xmllint is not installed";
  EXPECT_EQ(code, 0);
}

TEST_F(JunitSchema, SweepsAreValid) {
  for (const SweepMatrix& matrix : {sample_matrix(), hostile_matrix(), SweepMatrix{}}) {
    const int code = check(render_matrix_junit(matrix));
    if (code == 127) GTEST_SKIP() << "xmllint is not installed";
    EXPECT_EQ(code, 0);
  }
}

// The schema can say no.
TEST_F(JunitSchema, WhatIsNotJunitIsRefused) {
  std::string xml = render_junit(sample_report());
  xml.replace(xml.find("classname="), 10, "klassname=");
  const int code = check(xml);
  if (code == 127) GTEST_SKIP() << "xmllint is not installed";
  EXPECT_NE(code, 0);
}

}  // namespace
}  // namespace jitrace
