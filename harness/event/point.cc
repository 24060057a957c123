#include "event/point.h"

namespace jitrace {
namespace {

constexpr std::array<std::string_view, point_count> names = {
    "none",   "probe", "make_dir", "lock_wait", "lock_held",  "recheck",      "write_source", "spawn",       "compile",
    "output", "link",  "sync",     "publish",   "rename_gap", "publish_meta", "unlock",       "load",        "judge_stale",
    "break_lock"};

constexpr auto points = [] {
  std::array<Point, point_count - 1> all{};
  for (std::size_t i = 1; i < point_count; ++i) all[i - 1] = static_cast<Point>(i);
  return all;
}();

}  // namespace

std::string_view name_of(Point point) { return names[static_cast<std::size_t>(point)]; }

std::optional<Point> parse_point(std::string_view name) {
  for (const Point point : points) {
    if (name_of(point) == name) return point;
  }
  return std::nullopt;
}

const std::array<Point, point_count - 1>& all_points() { return points; }

}  // namespace jitrace
