#include <set>

#include "base/file.h"
#include "base/temp_dir.h"
#include "search/enumerate.h"
#include "search/replay.h"
#include "search/sample.h"
#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CellPlan cell_with(int trials) {
  CellPlan cell;
  cell.trials = trials;
  return cell;
}

TEST(Sample, InterleavesTheTrialsOfAllCells) {
  const Sample sample({cell_with(2), cell_with(3), cell_with(1)});
  EXPECT_THAT(sample.picks(), ElementsAre(Pick{0, 1}, Pick{1, 1}, Pick{2, 1}, Pick{0, 2}, Pick{1, 2}, Pick{1, 3}));
}

TEST(Sample, LeavesOutWhatCannotRun) {
  std::vector<CellPlan> cells{cell_with(1), cell_with(5), cell_with(1)};
  cells[0].not_applicable = "no lock";
  cells[1].skipped = "no nvcc";
  EXPECT_THAT(Sample(cells).picks(), ElementsAre(Pick{2, 1}));
}

TEST(EveryKill, NamesEachStepOnceAndBothOrdersOfAnOrphan) {
  const Catalogue catalogue = small_catalogue();
  std::set<std::string> names;
  for (const FaultEntry& entry : every_kill(*catalogue.find("deepgemm"), "nvcc")) {
    ASSERT_EQ(entry.steps.size(), 1u);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  // Nine points of the builder, two of them (compile, output) in two orders; compiler, shell, stage and tree at those two.
  EXPECT_EQ(names.size(), 9u + 2u + 2u * 4u);
  EXPECT_TRUE(names.contains("SIGKILL-builder-compile-orphan-held"));
  EXPECT_TRUE(names.contains("SIGKILL-shell-output"));
}

TEST(EveryKill, ALibraryLeavesNoOrphanAndHasNoTools) {
  const Catalogue catalogue = small_catalogue();
  for (const FaultEntry& entry : every_kill(*catalogue.find("deepgemm"), "nvrtc")) {
    EXPECT_THAT(entry.name, testing::Not(HasSubstr("orphan")));
    EXPECT_THAT(entry.name, testing::Not(testing::AnyOf(HasSubstr("compiler"), HasSubstr("shell"), HasSubstr("stage"))));
  }
}

TEST(Replay, GivesThePlanBack) {
  const auto dir = TempDir::create(testing::TempDir(), "replay");
  ASSERT_TRUE(dir) << dir.error().message();
  Plan plan;
  plan.scenario = "s";
  plan.workers = {{"sound", 0, "get"}};
  plan.seed = 17;
  const std::string path = join(dir->path(), "plan");
  ASSERT_TRUE(write_file(path, plan.text()));
  const auto read = read_plan(path);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->text(), plan.text());
  EXPECT_EQ(again(*read, 1).seed, 17u);
  EXPECT_NE(again(*read, 2).seed, 17u);
  EXPECT_EQ(again(*read, 2).seed, again(*read, 2).seed);
}

TEST(Replay, ARefusalNamesTheFile) {
  const auto dir = TempDir::create(testing::TempDir(), "replay");
  ASSERT_TRUE(dir) << dir.error().message();
  const std::string path = join(dir->path(), "plan");
  ASSERT_TRUE(write_file(path, "hello\n"));
  const auto read = read_plan(path);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), testing::AllOf(HasSubstr(path), HasSubstr("the first line is not")));
  EXPECT_FALSE(read_plan(path + ".no"));
}

}  // namespace
}  // namespace jitrace
