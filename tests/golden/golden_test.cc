// One approved output per renderer, all of one report. JITRACE_UPDATE_GOLDEN=1 writes them anew.
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/text.h"
#include "golden/sample_matrix.h"
#include "golden/sample_report.h"
#include "reports/annotations.h"
#include "reports/console.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"
#include "reports/matrix.h"

namespace jitrace {
namespace {

std::string golden_path(const std::string& name) { return join(JITRACE_SOURCE_DIR "/tests/golden", name); }

// The first line that differs, with the lines around it.
std::string difference(const std::string& approved, const std::string& actual) {
  const std::vector<std::string> left = split(approved, '\n'), right = split(actual, '\n');
  std::size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  std::string text = "first difference in line " + std::to_string(at + 1) + ":\n";
  for (std::size_t i = at < 2 ? 0 : at - 2; i < at; ++i) text += "  " + left[i] + "\n";
  for (std::size_t i = at; i < std::min(at + 5, left.size()); ++i) text += "- " + left[i] + "\n";
  for (std::size_t i = at; i < std::min(at + 5, right.size()); ++i) text += "+ " + right[i] + "\n";
  return text + "JITRACE_UPDATE_GOLDEN=1 writes the file anew";
}

void expect_golden(const std::string& name, const std::string& actual) {
  const char* update = std::getenv("JITRACE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    ASSERT_TRUE(write_file_atomically(golden_path(name), actual));
  }
  const auto approved = read_file(golden_path(name));
  ASSERT_TRUE(approved) << golden_path(name) << " is missing; JITRACE_UPDATE_GOLDEN=1 writes it";
  if (*approved != actual) ADD_FAILURE() << name << ": " << difference(*approved, actual);
}

TEST(Golden, Console) { expect_golden("console.txt", render_console(sample_report())); }
TEST(Golden, ConsoleInColour) {
  expect_golden("console-colour.txt", render_console(sample_report(), {Colour::always, 80}));
}
TEST(Golden, Json) { expect_golden("report.json", render_json(sample_report())); }
TEST(Golden, Junit) { expect_golden("junit.xml", render_junit(sample_report())); }
TEST(Golden, Markdown) { expect_golden("summary.md", render_markdown(sample_report())); }
TEST(Golden, Annotations) {
  expect_golden("annotations.txt", join_text(github_annotations(sample_report()), "\n") + "\n");
}

TEST(GoldenSweep, Console) { expect_golden("sweep.txt", render_matrix_console(sample_matrix())); }
TEST(GoldenSweep, ConsoleInColourOfAllThatCanGoWrong) {
  expect_golden("sweep-hostile-colour.txt", render_matrix_console(hostile_matrix(), {Colour::always, 80}));
}
TEST(GoldenSweep, Json) { expect_golden("sweep.json", render_matrix_json(hostile_matrix())); }
TEST(GoldenSweep, Junit) { expect_golden("sweep-junit.xml", render_matrix_junit(hostile_matrix())); }
TEST(GoldenSweep, Markdown) { expect_golden("sweep.md", render_matrix_markdown(hostile_matrix())); }

}  // namespace
}  // namespace jitrace
