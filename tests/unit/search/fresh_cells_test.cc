#include "search/fresh_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jitrace {
namespace {

using testing::Contains;
using testing::IsEmpty;

void add(SweepMatrix& matrix, SweepEnd end, const std::string& detail,
         SweepProcesses processes = SweepProcesses::forked) {
  SweepCell cell;
  cell.end = end;
  cell.detail = detail;
  cell.processes = processes;
  matrix.rows.push_back({"after A: step", 1, {{SweepColumn::tree, cell}}});
}

TEST(FreshCells, TheFirstOfEachRunOfFindingsAndATenthOfTheRest) {
  SweepMatrix matrix;
  for (int i = 0; i < 5; ++i) add(matrix, SweepEnd::recovered, "");
  for (int i = 0; i < 5; ++i) add(matrix, SweepEnd::hang, "polls lock");
  add(matrix, SweepEnd::hang, "polls other");
  add(matrix, SweepEnd::torn, "polls other");
  add(matrix, SweepEnd::hang, "polls lock");
  const auto cells = cells_to_confirm(matrix, 7);
  for (const std::size_t first : {5, 10, 11, 12}) EXPECT_THAT(cells, Contains(CellPlace{first, SweepColumn::tree}));
  EXPECT_EQ(cells.size(), 5u) << "9 are left, of which one is drawn";
  EXPECT_EQ(cells, cells_to_confirm(matrix, 7));
}

TEST(FreshCells, ThoseThatWereFreshAreLeftAlone) {
  SweepMatrix matrix;
  add(matrix, SweepEnd::hang, "", SweepProcesses::fresh);
  add(matrix, SweepEnd::recovered, "", SweepProcesses::confirmed);
  EXPECT_THAT(cells_to_confirm(matrix, 1), IsEmpty());
}

TEST(FreshCells, FaultsAreCellsToo) {
  SweepMatrix matrix;
  SweepCell failed;
  failed.end = SweepEnd::failed;
  failed.processes = SweepProcesses::forked;
  for (int i = 0; i < 3; ++i) matrix.faults.push_back({"after A: step", "ENOSPC", 1, failed});
  const auto cells = cells_to_confirm(matrix, 1);
  EXPECT_THAT(cells, Contains(CellPlace{0, std::nullopt}));
  EXPECT_EQ(cells.size(), 2u);
}

TEST(FreshCells, ColumnsAreApart) {
  SweepMatrix matrix;
  add(matrix, SweepEnd::hang, "polls lock");
  add(matrix, SweepEnd::hang, "polls lock");
  for (SweepRow& row : matrix.rows) row.cells[SweepColumn::builder_orphan_held] = row.cells[SweepColumn::tree];
  const auto cells = cells_to_confirm(matrix, 1);
  EXPECT_THAT(cells, Contains(CellPlace{0, SweepColumn::tree}));
  EXPECT_THAT(cells, Contains(CellPlace{0, SweepColumn::builder_orphan_held}));
  EXPECT_EQ(cells.size(), 3u);
}

TEST(FreshCells, WhatReplayedCompilersMadeIsConfirmedAlike) {
  SweepMatrix matrix;
  for (int i = 0; i < 3; ++i) add(matrix, SweepEnd::hang, "polls lock", SweepProcesses::fresh);
  EXPECT_THAT(cells_to_confirm(matrix, 7), IsEmpty());
  for (SweepRow& row : matrix.rows) row.cells[SweepColumn::tree].replayed = true;
  const auto cells = cells_to_confirm(matrix, 7);
  EXPECT_THAT(cells, Contains(CellPlace{0, SweepColumn::tree}));
  EXPECT_EQ(cells.size(), 2u) << "2 are left, of which one is drawn";
}

}  // namespace
}  // namespace jitrace
