#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/temp_dir.h"
#include "event/history.h"
#include "plan/recording.h"
#include "plan/trace_plan.h"
#include "process/process.h"
#include "support/leftovers.h"

namespace jitrace {

inline std::string test_program(const std::string& name) {
  return std::string(JITRACE_BINARY_DIR) + "/tests/programs/" + name;
}
inline std::string subject(const std::string& name) {
  return std::string(JITRACE_SOURCE_DIR) + "/scenarios/subjects/" + name;
}

// A plan carried out by the real lane, in directories of its own.
class LaneRun {
 public:
  explicit LaneRun(std::vector<std::string> command)
      : directory_(std::move(
            TempDir::create(::getenv("TMPDIR") != nullptr ? ::getenv("TMPDIR") : P_tmpdir, "jitrace-test-").value())) {
    plan.command = std::move(command);
    plan.cache = path("cache");
    plan.limit = seconds(300);  // of a machine that is loaded, too
    EXPECT_TRUE(make_dirs(plan.cache));
    EXPECT_TRUE(make_dirs(path("scratch")));
  }
  ~LaneRun() {
    const auto left = leftovers().wait_for_processes(seconds(10));
    EXPECT_THAT(left, ::testing::IsEmpty());
    leftovers().kill_processes();
  }
  LaneRun(const LaneRun&) = delete;
  LaneRun& operator=(const LaneRun&) = delete;

  TracePlan plan;
  History history;
  Nanoseconds took = 0;
  std::string scratch = "scratch";  // of the lane, below our directory

  std::string path(const std::string& name) const { return join(directory_.path(), name); }
  std::string in_cache(const std::string& name) const { return join(plan.cache, name); }
  test::Leftovers leftovers() const { return {"JITRACE_TEST_MARK=" + directory_.path(), directory_.path()}; }

  // What lies in the cache when the first process comes.
  std::string restored(const std::string& name) {
    plan.work = TraceWork::recover;
    plan.restore = path("restore");
    EXPECT_TRUE(make_dirs(plan.restore));
    return join(plan.restore, name);
  }

  Result<Process> start() {
    TRY(write_file(path("plan"), plan.text()));
    Command lane;
    lane.argv = {JITRACE_LIBEXEC "/lane", path("plan"), path("history"), JITRACE_LIBEXEC "/traced", path(scratch)};
    lane.environment = environment_with({"JITRACE_LANE_CPU=" + std::to_string(static_cast<unsigned>(::getpid()) % std::max(1U, std::thread::hardware_concurrency())),
                                            "JITRACE_TEST_MARK=" + directory_.path()});
    lane.directory = "/";
    return Process::spawn(lane);
  }

  // To its end, with its history.
  ::testing::AssertionResult run() {
    const Nanoseconds began = now();
    auto lane = start();
    if (!lane) return ::testing::AssertionFailure() << lane.error().message();
    const auto status = lane->wait();
    took = now() - began;
    if (!status || !status->is_exit(0))
      return ::testing::AssertionFailure() << "the lane: " << (status ? status->describe() : "?");
    const auto text = read_file(path("history"));
    if (!text) return ::testing::AssertionFailure() << text.error().message();
    auto parsed = History::parse(*text);
    if (!parsed) return ::testing::AssertionFailure() << parsed.error().message();
    history = std::move(*parsed);
    return ::testing::AssertionSuccess();
  }

  std::vector<Event> all(EventKind kind) const {
    std::vector<Event> found;
    std::copy_if(history.events.begin(), history.events.end(), std::back_inserter(found),
                 [kind](const Event& event) { return event.kind == kind; });
    return found;
  }
  Event first(EventKind kind) const {
    const auto found = all(kind);
    EXPECT_FALSE(found.empty()) << name_of(kind) << "\n" << history.text();
    return found.empty() ? Event{} : found.front();
  }
  std::vector<Outcome> outcomes() const {
    std::vector<Outcome> found;
    for (const Event& event : all(EventKind::outcome)) found.push_back(static_cast<Outcome>(event.a));
    return found;
  }
  Nanoseconds passed() const {
    Nanoseconds sum = 0;
    for (const Event& event : all(EventKind::time_passed)) sum += event.a;
    return sum;
  }
  // "ROLE: what" of each call, in order, the role as it was then; only those that hold `name`.
  std::vector<std::string> calls(const std::string& name = "") const {
    std::map<Slot, std::string> roles;
    std::vector<std::string> lines;
    for (const Event& event : history.events) {
      if (event.kind == EventKind::process_started) roles[event.slot] = event.text.substr(0, event.text.find('|'));
      if (event.kind != EventKind::call || event.text.find(name) == std::string::npos) continue;
      lines.push_back(roles[event.slot] + ": " + event.text);
    }
    return lines;
  }

 private:
  TempDir directory_;
};

inline LaneRun python(const std::string& program) { return LaneRun({"/usr/bin/python3", "-ISc", program, "{cache}"}); }

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

}  // namespace jitrace
