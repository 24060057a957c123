// Traced plans in lanes, and what lies outside of them.
#include "trial/lane_runner.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/file.h"
#include "unit/base/fixture.h"

namespace jitrace {
namespace {

// Another build has its lock there: what a trial would say of its own is not known.
TEST(LaneRunner, DoesNotBeginWhereSomebodyElsesLockLies) {
  const TempDir dir = scratch();
  LaneRunner::Places places;
  places.libexec = JITRACE_LIBEXEC;
  places.root = dir.path();
  places.cache = dir.path() + "/own/cache";
  places.scratch = dir.path() + "/scratch";
  places.passing = {dir.path() + "/k.lock"};
  ASSERT_TRUE(make_dirs(places.cache));
  TracePlan plan;
  plan.command = {"sh", "-c", "mkdir \"$1\" && rmdir \"$1\"", "sh", places.passing.front()};
  plan.beside = places.passing;
  std::vector<int> errors;
  const auto run = [&] {
    errors.clear();
    return LaneRunner(places).run({plan, plan}, [&errors](std::size_t, Result<History> history) { errors.push_back(history ? 0 : history.error().code); });
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(errors, (std::vector<int>{0, 0}));
  ASSERT_TRUE(make_dirs(places.passing.front()));
  ASSERT_TRUE(run());
  EXPECT_EQ(errors, (std::vector<int>{EBUSY, EBUSY}));
  EXPECT_TRUE(exists(places.passing.front()));
}

}  // namespace
}  // namespace jitrace
