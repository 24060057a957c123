// What a reader refuses: summaries over a MiB, more than ten annotations, JSON that is none.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden/sample_report.h"
#include "reports/annotations.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"

namespace jitrace {
namespace {

Report many_failures(int count) {
  Report report = sample_report();
  const Cell failed = report.cells[2];
  report.cells.clear();
  for (int i = 0; i < count; ++i) {
    report.cells.push_back(failed);
    report.cells.back().id += std::to_string(i);
  }
  return report;
}

TEST(Markdown, StaysBelowAMebibyteAndSaysWhatItLeftOut) {
  const std::string text = render_markdown(many_failures(4000));
  EXPECT_LT(text.size(), 1024u * 1024u);
  EXPECT_NE(text.find("more parts do not fit here"), std::string::npos);
  EXPECT_EQ(render_markdown(sample_report()).find("do not fit"), std::string::npos);
}

TEST(Annotations, TenAtMostAndTheLastCountsTheRest) {
  const auto lines = github_annotations(many_failures(50));
  ASSERT_EQ(lines.size(), most_annotations);
  EXPECT_NE(lines.back().find("41 more cells"), std::string::npos);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_TRUE(line.starts_with("::error title="));
  }
  EXPECT_EQ(github_annotations(many_failures(10)).size(), 10u);
}

TEST(Json, IsReadBackWithItsOrderAndItsFields) {
  const auto json = nlohmann::ordered_json::parse(render_json(sample_report()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json.begin().key(), "schema");
  ASSERT_EQ(json["cells"].size(), 6u);
  for (const char* name :
       {"strategy",    "run",    "toolchain", "arch",         "loader",  "cache",    "workers",  "fault",
        "mode",        "cause",  "trials",    "inconclusive", "skipped", "outcomes", "findings", "rates",
        "recovery_ms", "builds", "faults",    "expected",     "met",     "verdict",  "replay"}) {
    for (const auto& cell : json["cells"]) EXPECT_TRUE(cell.contains(name)) << name;
  }
  EXPECT_EQ(json["cells"][0]["findings"]["wedged"], 20);
  EXPECT_EQ(json["cells"][0]["recovery_ms"]["handoff"]["unrecovered"], 20);
  EXPECT_TRUE(json["cells"][0]["recovery_ms"]["handoff"]["p50"].is_null());
  EXPECT_EQ(json["cells"][0]["fault"]["point"], "compile");
  EXPECT_TRUE(json["cells"][4]["fault"].is_null());
  EXPECT_EQ(json["cells"][4]["rates"]["missing"]["k"], 0);
  EXPECT_TRUE(json["cells"][5]["skipped"]["reason"].is_string());
}

TEST(Json, HoldsBytesThatAreNoText) {
  Report report = sample_report();
  report.machine["n\xff"] = "v\xfe";
  report.cells[0].findings["\xff"] = 1;
  EXPECT_NO_THROW(nlohmann::json::parse(render_json(report)));
}

}  // namespace
}  // namespace jitrace
