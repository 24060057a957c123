#include "reports/matrix.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "golden/sample_matrix.h"
#include "reports/markdown.h"
#include "reports/matrix_groups.h"
#include "reports/wrap.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SweepRow row_of(const std::string& step, SweepEnd end, std::size_t points = 2) {
  SweepRow row;
  row.step = step;
  row.points = points;
  row.cells[SweepColumn::tree].end = end;
  return row;
}

SweepMatrix matrix_of(std::vector<SweepRow> rows) {
  SweepMatrix matrix;
  matrix.subject = "make";
  matrix.calls = 9;
  matrix.counted = 9;
  matrix.rows = std::move(rows);
  return matrix;
}

std::string without_colour(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\x1b[") == 0) i = text.find('m', i);
    else result += text[i];
  }
  return result;
}

TEST(MatrixGroups, JoinNeighboursThatEndAlike) {
  const SweepMatrix matrix = matrix_of({
      row_of("before A: stat lock", SweepEnd::recovered),
      row_of("after A: open lock O_RDWR|O_CREAT|O_EXCL", SweepEnd::hang, 5),
      row_of("after A/sh/as: write e.o (2)", SweepEnd::hang, 7),
      row_of("after A: unlink lock", SweepEnd::recovered),
  });
  const auto groups = groups_of(matrix);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].from, "before the first call");
  EXPECT_EQ(groups[0].to, "before create lock (O_EXCL)");
  EXPECT_EQ(groups[1].from, "after create lock (O_EXCL)");
  EXPECT_EQ(groups[1].to, "before unlink lock");
  EXPECT_EQ(groups[1].rows(), 2u);
  EXPECT_EQ(groups[1].points, 12u);
  EXPECT_EQ(groups[2].to, "the end") << "it recovers like the first, but is no neighbour of it";
}

TEST(MatrixGroups, KeepApartWhatDiffersInAnyColumn) {
  SweepMatrix matrix = matrix_of({row_of("before A: a", SweepEnd::hang), row_of("after A: b", SweepEnd::hang)});
  EXPECT_EQ(groups_of(matrix).size(), 1u);
  matrix.rows[1].cells[SweepColumn::tree].poisoned = true;
  EXPECT_EQ(groups_of(matrix).size(), 2u);
  matrix.rows[1].cells[SweepColumn::tree].poisoned = false;
  matrix.rows[1].cells[SweepColumn::builder_orphan_held].end = SweepEnd::recovered;
  EXPECT_EQ(groups_of(matrix).size(), 2u);
  EXPECT_TRUE(groups_of(SweepMatrix{}).empty());
}

TEST(MatrixGroups, HoldEveryRowOnce) {
  for (const SweepMatrix& matrix : {sample_matrix(), hostile_matrix()}) {
    std::size_t next = 0, points = 0, all = 0;
    for (const MatrixGroup& group : groups_of(matrix)) {
      EXPECT_EQ(group.first, next);
      next = group.last + 1;
      points += group.points;
    }
    for (const SweepRow& row : matrix.rows) all += row.points;
    EXPECT_EQ(next, matrix.rows.size());
    EXPECT_EQ(points, all);
  }
}

TEST(MatrixGroups, TellTheSameFindingOnce) {
  const SweepMatrix matrix = sample_matrix();
  const auto told = findings_of(matrix, groups_of(matrix)[1]);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].cells, 63u);
  EXPECT_EQ(words_of(told[0].columns), "whole tree; builder alone in both orders");
  EXPECT_EQ(left_words(told[0]), "lock, ninja went on (21 cells), cc1plus went on (21 cells)");
  EXPECT_TRUE(findings_of(matrix, groups_of(matrix)[0]).empty());
}

TEST(MatrixWords, SayCallsAsPeopleDo) {
  EXPECT_EQ(step_words("after A: open lock O_WRONLY|O_CREAT|O_EXCL"), "create lock (O_EXCL)");
  EXPECT_EQ(step_words("after A: open a b O_RDWR"), "open a b");
  EXPECT_EQ(step_words("after A: open log O_WRONLY|O_APPEND"), "open log (O_APPEND)");
  EXPECT_EQ(step_words("after A/ninja/sh/c++/as: write e.o (2)"), "as: write e.o (2)");
  EXPECT_EQ(step_words("no step at all"), "no step at all");
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(15260), "15 260");
  EXPECT_EQ(grouped_digits(1234567), "1 234 567");
}

TEST(MatrixWords, QuoteWhatAShellWouldRead) {
  SweepCell cell;
  EXPECT_EQ(replay_command(cell), "");
  cell.replay = "out/a-1.replay";
  EXPECT_EQ(replay_command(cell), "jitrace replay out/a-1.replay");
  cell.replay = "it's $HOME";
  EXPECT_EQ(replay_command(cell), "jitrace replay 'it'\\''s $HOME'");
}

TEST(MatrixConsole, TellsATorchSweepInAFewLines) {
  const std::string text = render_matrix_console(sample_matrix());
  EXPECT_LE(split(text, '\n').size(), 48u) << text;
  EXPECT_THAT(text, HasSubstr("15 260 calls on the cache, 2 676 changes, 30 520 points in 25 classes; 11"));
  EXPECT_THAT(text, HasSubstr("jitrace replay out/sweep/"));
  EXPECT_THAT(text, HasSubstr("hangs proved to at least 2.3 virtual hours and 1 000 unchanged polls"));
  EXPECT_THAT(text, HasSubstr("findings: of 71 cells, 64 hang, 7 recovered"));
}

TEST(MatrixConsole, NoLineIsLongerThanTheTerminal) {
  for (const SweepMatrix& matrix : {sample_matrix(), hostile_matrix(), SweepMatrix{}}) {
    for (const int width : {60, 80, 132}) {
      for (const Colour colour : {Colour::never, Colour::always}) {
        const std::string text = render_matrix_console(matrix, {colour, width});
        for (const std::string& line : split(without_colour(text), '\n')) {
          // One word that is longer than a line may be: the path of a replay file is to be copied.
          if (line.find("a-directory-with-a-name") != std::string::npos) continue;
          EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
          EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
        }
      }
    }
  }
}

TEST(MatrixConsole, SaysWhatWasNotSeen) {
  const std::string text = render_matrix_console(hostile_matrix());
  EXPECT_THAT(text, HasSubstr("an independent count saw 15 259 calls, the recording 15 260"));
  EXPECT_THAT(text, HasSubstr("io_uring was used by"));
  EXPECT_THAT(text, HasSubstr("1 cell, not run"));
  EXPECT_THAT(text, HasSubstr("2 cells, inconclusive: the kill did not strike"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "the subject's own escapes";
  EXPECT_THAT(render_matrix_console(SweepMatrix{}), HasSubstr("nothing was swept"));
}

TEST(MatrixConsole, TellsManyFindingsOnlyInPart) {
  std::vector<SweepRow> rows;
  for (int i = 0; i < 300; ++i) {
    rows.push_back(row_of("after A: write " + std::to_string(i), i % 2 == 0 ? SweepEnd::torn : SweepEnd::recovered));
    rows.back().cells[SweepColumn::tree].detail = "file " + std::to_string(i);
  }
  EXPECT_THAT(render_matrix_console(matrix_of(rows)), HasSubstr("and 138 more in sweep.json"));
}

TEST(MatrixJson, HoldsEveryRowAndTheGroups) {
  const auto json = nlohmann::ordered_json::parse(render_matrix_json(hostile_matrix()));
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "findings");
  ASSERT_EQ(json["rows"].size(), 26u);
  EXPECT_EQ(json["rows"][2]["cells"]["tree"]["end"], "hang");
  EXPECT_EQ(json["rows"][2]["cells"]["builder_orphan_held"]["left"][2], "cc1plus went on");
  EXPECT_EQ(json["rows"][0]["cells"]["tree"]["recovery_ms"], 2110);
  EXPECT_TRUE(json["rows"][0]["cells"]["tree"]["replay"].is_null());
  EXPECT_TRUE(json["rows"][2]["cells"]["tree"]["recovery_ms"].is_null());
  EXPECT_EQ(json["groups"].size(), groups_of(hostile_matrix()).size());
  EXPECT_EQ(json["groups"][1]["first_row"], 2);
  EXPECT_EQ(json["summary"]["hang"], 63 + 21 + 1) << "beside a waiter, too, and at a call";
  EXPECT_EQ(json["faults"].size(), 6u);
  EXPECT_EQ(json["faults"][2]["fault"], "lost reply, EEXIST");
  EXPECT_EQ(json["faults"][2]["cell"]["end"], "hang");
  EXPECT_EQ(json["recording"]["signal"], "SIGTERM");
  EXPECT_EQ(json["summary"]["not_run"], 1);
  EXPECT_EQ(json["recording"]["counted"], 15259);
  EXPECT_EQ(json["downgrades"].size(), 2u);
}

TEST(MatrixJunit, CountsItsCases) {
  const std::string xml = render_matrix_junit(hostile_matrix());
  std::size_t cases = 0;
  for (std::size_t at = 0; (at = xml.find("<testcase ", at)) != std::string::npos; ++at) ++cases;
  EXPECT_EQ(cases, 26 * 4 + 6 + 1u);
  EXPECT_THAT(xml, HasSubstr("tests=\"111\" failures=\"90\" errors=\"3\" skipped=\"9\""));
  EXPECT_THAT(render_matrix_junit(sample_matrix()), HasSubstr("errors=\"0\""));
}

TEST(MatrixMarkdown, StaysBelowWhatGithubTakes) {
  std::vector<SweepRow> rows;
  for (int i = 0; i < 8000; ++i) {
    rows.push_back(row_of("after A: write " + std::to_string(i), i % 2 == 0 ? SweepEnd::torn : SweepEnd::recovered));
    rows.back().cells[SweepColumn::tree].detail = std::string(300, 'x');
  }
  const std::string text = render_matrix_markdown(matrix_of(rows));
  EXPECT_LE(text.size(), markdown_limit);
  EXPECT_THAT(text, HasSubstr("more parts do not fit here"));
  // Within a block of code it is text.
  bool code = false;
  for (const std::string& line : split(render_matrix_markdown(hostile_matrix()), '\n')) {
    if (line.starts_with("```")) code = !code;
    EXPECT_TRUE(code || line.find("<script>") == std::string::npos) << line;
  }
  EXPECT_FALSE(code);
}

TEST(MatrixReports, AreWrittenTogether) {
  const char* parent = std::getenv("TMPDIR");
  auto dir = TempDir::create(parent != nullptr ? parent : "/tmp", "jitrace-sweep-");
  ASSERT_TRUE(dir);
  ASSERT_TRUE(write_matrix_reports(sample_matrix(), dir->path()));
  EXPECT_THAT(*list_dir(dir->path()), ElementsAre("junit.xml", "report.txt", "summary.md", "sweep.json"));
  EXPECT_EQ(*read_file(join(dir->path(), "report.txt")), render_matrix_console(sample_matrix()));
  const auto failed = write_matrix_reports(sample_matrix(), join(dir->path(), "absent"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("absent"));
}

}  // namespace
}  // namespace jitrace
