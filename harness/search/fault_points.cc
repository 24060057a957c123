#include "search/fault_points.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "plan/call_words.h"

namespace jitrace {
namespace {

bool makes_or_removes(const CallWords& call) { return call.is({"rename", "link", "symlink", "unlink", "mkdir", "rmdir", "make"}); }

struct Answer {
  const char* name;
  int number;
  bool (*can)(const CallWords& call);
};

constexpr Answer errors[] = {
    {"ENOSPC", ENOSPC, [](const CallWords& call) {
       return call.is({"write", "copy", "mkdir", "rename", "link", "symlink", "make", "xattr", "allocate", "close", "fsync"}) ||
              (call.verb() == "open" && call.has("O_CREAT"));
     }},
    {"EDQUOT", EDQUOT, [](const CallWords& call) {
       return call.is({"write", "copy", "mkdir", "rename", "link", "symlink", "make", "xattr", "allocate", "close", "fsync"}) ||
              (call.verb() == "open" && call.has("O_CREAT"));
     }},
    {"EIO", EIO, [](const CallWords& call) { return !call.is({"flock", "lock", "map"}); }},
    {"ESTALE", ESTALE, [](const CallWords& call) { return !call.is({"flock", "lock", "map"}); }},
    {"ENOLCK", ENOLCK, [](const CallWords& call) { return call.is({"flock", "lock"}); }},
    {"EINTR", EINTR, [](const CallWords& call) {
       return call.is({"open", "write", "copy", "allocate", "truncate", "close"}) || call.waits_for_lock();
     }},
    {"EROFS", EROFS, [](const CallWords& call) {
       return makes_or_removes(call) || call.is({"truncate", "chmod", "utime", "xattr"}) || call.opens_to_write();
     }},
    {"EACCES", EACCES, [](const CallWords& call) {
       return makes_or_removes(call) || call.is({"open", "stat", "access", "readlink", "truncate", "utime", "xattr"});
     }},
    {"EMFILE", EMFILE, [](const CallWords& call) { return call.verb() == "open"; }},
};

// Those calls for which `pick` has a point, of each kind the first, the middle and the last, or all.
std::vector<FaultPoint> points_of(const Recording& recording, Writes which,
                                  const std::function<std::optional<FaultPoint>(const RecordedCall&)>& pick) {
  std::map<std::pair<std::string, std::string>, std::vector<FaultPoint>> kinds;
  std::map<std::pair<std::string, std::string>, int> seen;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.round != 1) continue;
    const std::string& role = recording.processes.at(static_cast<std::size_t>(call.process)).role;
    const int occurrence = ++seen[{role, call.what}];
    auto point = pick(call);
    if (!point) continue;
    point->step = {role, call.what, occurrence, Side::after};
    point->call = i;
    kinds[{role, call.what}].push_back(std::move(*point));
  }
  std::vector<FaultPoint> points;
  for (const auto& [kind, all] : kinds) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (which == Writes::all || i == 0 || i == all.size() / 2 || i + 1 == all.size()) kept.push_back(i);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      points.push_back(all[kept[i]]);
      points.back().calls = (i + 1 < kept.size() ? kept[i + 1] : all.size()) - kept[i];
    }
  }
  std::sort(points.begin(), points.end(), [](const FaultPoint& one, const FaultPoint& other) { return one.call < other.call; });
  return points;
}

}  // namespace

std::vector<std::string> sweepable_errors() {
  std::vector<std::string> names;
  for (const Answer& error : errors) names.emplace_back(error.name);
  return names;
}

std::vector<FaultPoint> error_points(const Recording& recording, int error, Writes which) {
  const auto* known = std::find_if(std::begin(errors), std::end(errors), [error](const Answer& one) { return one.number == error; });
  if (known == std::end(errors)) return {};
  return points_of(recording, which, [known](const RecordedCall& call) -> std::optional<FaultPoint> {
    if (!known->can(CallWords(call.what))) return std::nullopt;
    FaultPoint point;
    point.error = known->number;
    return point;
  });
}

std::vector<FaultPoint> lost_reply_points(const Recording& recording, Writes which) {
  return points_of(recording, which, [](const RecordedCall& call) -> std::optional<FaultPoint> {
    const CallWords words(call.what);
    if (call.result < 0 || !call.changed) return std::nullopt;
    FaultPoint point;
    if (words.is({"rename", "unlink", "rmdir"})) point.error = ENOENT;
    else if (words.is({"link", "symlink", "mkdir"}) || (words.verb() == "open" && words.has("O_EXCL"))) point.error = EEXIST;
    else return std::nullopt;
    return point;
  });
}

std::vector<FaultPoint> cut_points(const Recording& recording, Writes which) {
  const auto whole = points_of(recording, which, [](const RecordedCall& call) -> std::optional<FaultPoint> {
    if (call.result < 2 || !call.changed || !CallWords(call.what).is({"write", "copy"})) return std::nullopt;
    return FaultPoint{};
  });
  std::vector<FaultPoint> points;
  for (const FaultPoint& point : whole) {
    points.push_back(point);
    points.back().cut = Cut::half;
    if (recording.calls[point.call].result == 2) continue;  // half of it is all but one
    points.push_back(point);
    points.back().cut = Cut::all_but_one;
  }
  return points;
}

}  // namespace jitrace
