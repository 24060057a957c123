#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace jitrace {

// The named steps of a build at which a fault or a gate can sit, in the order of a build. The names stand in scenarios,
// events and reports; the numbers stay within one run.
enum class Point : std::uint16_t {
  none,
  probe,
  make_dir,
  lock_wait,
  lock_held,
  recheck,
  write_source,
  spawn,
  compile,
  output,
  link,
  sync,
  publish,
  rename_gap,
  publish_meta,
  unlock,
  load,
  judge_stale,
  break_lock,
};

inline constexpr std::size_t point_count = 19;

std::string_view name_of(Point point);
std::optional<Point> parse_point(std::string_view name);
const std::array<Point, point_count - 1>& all_points();  // without `none`

}  // namespace jitrace
