#include "event/event.h"

#include <set>
#include <string>

#include "event/point.h"
#include "unit/event/fixture.h"

namespace jitrace {
namespace {

TEST(EventNames, AreDistinctAndComeBack) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(EventKind::counted); ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_TRUE(seen.insert(name_of(kind)).second) << name_of(kind);
    EXPECT_EQ(parse_event_kind(name_of(kind)), kind);
  }
  for (int i = 0; i <= static_cast<int>(Outcome::could_not_start); ++i) {
    EXPECT_EQ(parse_outcome(name_of(static_cast<Outcome>(i))), static_cast<Outcome>(i));
  }
  EXPECT_EQ(name_of(EventKind::served_request), "served_request");
  EXPECT_EQ(name_of(EventKind::call), "call");
  EXPECT_EQ(name_of(EventKind::time_passed), "time_passed");
  EXPECT_EQ(name_of(EventKind::counted), "counted");
  EXPECT_EQ(name_of(EventKind::fault_missed), "fault_missed");
  EXPECT_EQ(name_of(static_cast<EventKind>(9999)), "unknown");
  EXPECT_FALSE(parse_event_kind("nothing"));
}

TEST(PointNames, AreDistinctAndComeBack) {
  std::set<std::string_view> seen;
  for (const Point point : all_points()) {
    EXPECT_TRUE(seen.insert(name_of(point)).second);
    EXPECT_EQ(parse_point(name_of(point)), point);
  }
  EXPECT_EQ(seen.size(), point_count - 1);
  EXPECT_EQ(name_of(Point::rename_gap), "rename_gap");
  EXPECT_EQ(name_of(Point::break_lock), "break_lock");
  // A plan cannot ask for the point that is none.
  EXPECT_FALSE(parse_point("none"));
  EXPECT_FALSE(parse_point(""));
}

}  // namespace
}  // namespace jitrace
