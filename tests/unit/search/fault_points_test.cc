#include "search/fault_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace jitrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Recording recording(const std::vector<RecordedCall>& calls) {
  Recording out;
  out.processes = {{"A", "sh", -1, 1}, {"A/as", "as", 0, 2}};
  out.calls = calls;
  return out;
}

RecordedCall call(int process, const std::string& what, std::int64_t result = 0) {
  return {process, 1, what, result, result >= 0 && !what.starts_with("stat "), 0};
}

std::vector<std::string> steps(const std::vector<FaultPoint>& points) {
  std::vector<std::string> out;
  for (const FaultPoint& point : points) out.push_back(point.step.text() + " x" + std::to_string(point.calls));
  return out;
}

TEST(FaultPoints, AnErrorIsAnsweredByThoseCallsThatCanReturnIt) {
  const Recording run = recording({call(0, "stat k", -ENOENT), call(0, "mkdir lock.d"), call(0, "open k O_RDONLY", 3),
                                   call(0, "open k O_WRONLY|O_CREAT|O_TRUNC", 3), call(0, "flock lock LOCK_EX"),
                                   call(0, "flock lock LOCK_UN"), call(0, "rename k.tmp -> k"), call(0, "rmdir lock.d")});
  EXPECT_THAT(steps(error_points(run, ENOSPC, Writes::ends)),
              ElementsAre("after A: mkdir lock.d x1", "after A: open k O_WRONLY|O_CREAT|O_TRUNC x1", "after A: rename k.tmp -> k x1"));
  EXPECT_THAT(steps(error_points(run, ENOLCK, Writes::ends)),
              ElementsAre("after A: flock lock LOCK_EX x1", "after A: flock lock LOCK_UN x1"));
  EXPECT_EQ(error_points(run, ESTALE, Writes::ends).size(), 6u);
  EXPECT_THAT(steps(error_points(run, EINTR, Writes::ends)),
              ElementsAre("after A: open k O_RDONLY x1", "after A: open k O_WRONLY|O_CREAT|O_TRUNC x1", "after A: flock lock LOCK_EX x1"));
  EXPECT_THAT(error_points(run, ENOTSUP, Writes::ends), IsEmpty());
  for (const std::string& name : sweepable_errors()) EXPECT_TRUE(parse_errno(name)) << name;
}

TEST(FaultPoints, OfManyAlikeTheFirstTheMiddleAndTheLastStandForAll) {
  std::vector<RecordedCall> calls{call(1, "write e.o", 4096)};
  for (int i = 0; i < 9; ++i) calls.push_back(call(0, "write k", 10));
  calls.push_back(call(1, "write e.o", 100));
  const Recording run = recording(calls);
  EXPECT_THAT(steps(error_points(run, ENOSPC, Writes::ends)),
              ElementsAre("after A/as: write e.o x1", "after A: write k x4", "after A: write k (5) x4",
                          "after A: write k (9) x1", "after A/as: write e.o (2) x1"));
  EXPECT_EQ(error_points(run, ENOSPC, Writes::all).size(), 11u);
}

TEST(FaultPoints, ARepliesLossIsAnsweredAsByAServerThatIsAskedAgain) {
  const Recording run = recording({call(0, "open lock O_WRONLY|O_CREAT|O_EXCL", 3), call(0, "open k O_WRONLY|O_CREAT", 4),
                                   call(0, "open lock O_WRONLY|O_CREAT|O_EXCL", -EEXIST), call(0, "rename a -> b"),
                                   call(0, "mkdir d"), call(0, "unlink lock")});
  const auto points = lost_reply_points(run, Writes::ends);
  EXPECT_THAT(steps(points), ElementsAre("after A: open lock O_WRONLY|O_CREAT|O_EXCL x1", "after A: rename a -> b x1",
                                         "after A: mkdir d x1", "after A: unlink lock x1"));
  std::vector<int> errors;
  for (const FaultPoint& point : points) errors.push_back(point.error);
  EXPECT_THAT(errors, ElementsAre(EEXIST, ENOENT, EEXIST, ENOENT));
}

TEST(FaultPoints, AWriteIsCutWhereSomethingStaysOnBothSides) {
  const Recording run = recording({call(0, "write a", 1), call(0, "write b", 2), call(0, "write c", 3), call(0, "copy to d FICLONE", 0)});
  std::vector<std::string> seen;
  for (const FaultPoint& point : cut_points(run, Writes::ends)) {
    seen.push_back(point.step.what + " " + std::string(name_of(point.cut)));
  }
  EXPECT_THAT(seen, ElementsAre("write b half", "write c half", "write c all-but-one"));
}

}  // namespace
}  // namespace jitrace
