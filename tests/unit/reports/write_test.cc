#include "reports/write_reports.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "golden/sample_report.h"
#include "reports/json.h"

namespace jitrace {
namespace {

TempDir scratch() {
  const char* parent = std::getenv("TMPDIR");
  auto dir = TempDir::create(parent != nullptr ? parent : "/tmp", "jitrace-reports-");
  return std::move(*dir);
}

TEST(WriteReports, WritesAllAndLeavesNothingElse) {
  const TempDir dir = scratch();
  ASSERT_TRUE(write_reports(sample_report(), dir.path()));
  ASSERT_TRUE(write_reports(sample_report(), dir.path())) << "again, over the first";
  EXPECT_EQ(*list_dir(dir.path()),
            (std::vector<std::string>{"annotations.txt", "junit.xml", "report.json", "report.txt", "summary.md"}));
  EXPECT_EQ(*read_file(join(dir.path(), "report.json")), render_json(sample_report()));
}

TEST(WriteReports, NamesThePathItCouldNotWrite) {
  const TempDir dir = scratch();
  const auto written = write_reports(sample_report(), join(dir.path(), "absent"));
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("absent"), std::string::npos);
}

}  // namespace
}  // namespace jitrace
