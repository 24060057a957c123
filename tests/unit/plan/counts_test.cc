#include <gtest/gtest.h>

#include "plan/recording.h"
#include "plan/trace_plan.h"

namespace jitrace {
namespace {

using Counts = std::map<std::string, std::size_t>;

Event counted(std::string what, std::int64_t times) {
  Event event;
  event.kind = EventKind::counted;
  event.text = std::move(what);
  event.a = times;
  return event;
}

TEST(Counts, OfAHistoryThatCounts) {
  History history;
  history.events = {counted("stat lock", 2), counted("write e.o", 3)};
  const History again = History::parse(history.text()).value();
  EXPECT_EQ(counts_of(again), (Counts{{"stat lock", 2}, {"write e.o", 3}}));
  EXPECT_TRUE(recording_of(again).calls.empty());
}

TEST(Counts, OfTheFirstRoundOfARecording) {
  Recording recording;
  recording.processes.resize(2);
  recording.calls = {{.process = 0, .what = "stat lock"}, {.process = 1, .what = "write e.o"},
                     {.process = 1, .what = "stat lock"}, {.process = 1, .round = 2, .what = "stat lock"}};
  EXPECT_EQ(counts_of(recording), (Counts{{"stat lock", 2}, {"write e.o", 1}}));
}

TEST(Counts, WhoAsksUntilSomethingComesIsKnown) {
  Recording recording;
  recording.processes.resize(2);
  recording.processes[0].role = "A";
  recording.processes[1].role = "A/as";
  recording.calls = {{.process = 0, .what = "stat lock"},   {.process = 0, .what = "write e.o", .changed = true},
                     {.process = 0, .what = "write e.o", .changed = true}, {.process = 1, .what = "stat e.o"},
                     {.process = 0, .what = "stat e.o"},    {.process = 0, .what = "stat lock"},
                     {.process = 1, .round = 2, .what = "stat e.o"}};
  EXPECT_EQ(asked_again(recording), std::set<std::string>{"stat lock"}) << "once each is not again, a write is no look";
  History counts;
  counts.events = {counted("stat lock", 2), counted("stat e.o", 3)};
  counts.events[1].b = 1;
  EXPECT_EQ(asked_again(counts), std::set<std::string>{"stat e.o"});
  const Counts recorded{{"stat lock", 2}, {"write e.o", 2}, {"stat e.o", 2}};
  const auto none = differences(recorded, recorded, {"stat lock"});
  EXPECT_TRUE(none.otherwise.empty() && none.again.empty());
  const auto some = differences(recorded, {{"stat lock", 5}, {"write e.o", 3}, {"unlink lock", 1}}, {"stat lock"});
  EXPECT_EQ(some.again, std::vector<std::string>{"stat lock: 2 and 5"});
  EXPECT_EQ(some.otherwise, (std::vector<std::string>{"stat e.o: 2 and 0", "unlink lock: 0 and 1", "write e.o: 2 and 3"}));
  EXPECT_EQ(differences(recorded, {{"write e.o", 2}, {"stat e.o", 2}}, {"stat lock"}).otherwise,
            std::vector<std::string>{"stat lock: 2 and 0"})
      << "less often, but not never";
}

TEST(Counts, AProgramForEachLookAndALockThatCannotBeMadeAreLooks) {
  Recording recording;
  recording.processes.resize(3);
  for (RecordedProcess& process : recording.processes) process.role = "A/mkdir";
  recording.calls = {{.process = 0, .what = "mkdir lock", .result = -17}, {.process = 1, .what = "mkdir lock", .result = -17},
                     {.process = 2, .what = "mkdir lock", .result = 0, .changed = true}, {.process = 0, .what = "rmdir x", .result = 0, .changed = true},
                     {.process = 1, .what = "rmdir x", .result = 0, .changed = true}};
  EXPECT_EQ(asked_again(recording), std::set<std::string>{"mkdir lock"});
}

TEST(Counts, APlanThatCountsComesBack) {
  TracePlan plan;
  plan.work = TraceWork::count;
  plan.command = {"true", "{cache}"};
  EXPECT_EQ(TracePlan::parse(plan.text()).value().work, TraceWork::count);
}

}  // namespace
}  // namespace jitrace
