// Each preset's calls, as a recording shows them, against the steps that it announces: what a strategy says that it
// does to the cache is what it does, in that order, and no more.

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"
#include "e2e/swept_presets.h"
#include "event/history.h"
#include "plan/recording.h"

namespace jitrace::test {
namespace {

using Steps = std::vector<std::string>;

void add(Steps& steps, const std::string& step) {
  if (steps.empty() || steps.back() != step) steps.push_back(step);
}

bool has(const std::string& flags, const char* flag) { return flags.find(flag) != std::string::npos; }

std::string without_slash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

// "mkdir a/b" is one step, and two calls where there was no a.
void add_mkdir(Steps& steps, const std::string& path) {
  const std::string last = steps.empty() ? "" : steps.back();
  if (last.starts_with("mkdir ") && path.starts_with(last.substr(6) + "/")) steps.pop_back();
  add(steps, "mkdir " + path);
}

// What the program itself changed or locked, and what it loaded in the end.
Steps recorded_steps(const Recording& recording) {
  Steps steps;
  for (const RecordedCall& call : recording.calls) {
    if (recording.processes[static_cast<std::size_t>(call.process)].role != "A" || call.result < 0) continue;
    const auto words = split(call.what, ' ');
    const std::string path = words.size() > 1 ? words[1] : "";
    if (words[0] == "mkdir") add_mkdir(steps, path);
    else if (words[0] == "rename") add(steps, "rename " + path + " " + words.back());
    else if (words[0] == "unlink" || words[0] == "write" || words[0] == "fsync") add(steps, words[0] + " " + path);
    else if (words[0] == "flock") add(steps, (words[2] == "LOCK_UN" ? "unlock " : "flock ") + path);
    // With O_TRUNC it is the beginning of a write.
    else if (words[0] == "open" && has(words[2], "O_CREAT") && !has(words[2], "O_TRUNC")) add(steps, "create " + path);
  }
  return steps;
}

Steps announced_steps(const History& history) {
  Steps steps;
  for (const Event& event : history.events) {
    if (event.kind != EventKind::file_op || event.a != 0) continue;
    auto words = split(event.text, ' ');
    for (std::size_t i = 1; i < words.size(); ++i) words[i] = without_slash(path_pattern(words[i]));
    if (words[0] == "mkdir") {
      if (words[1] != ".") add_mkdir(steps, words[1]);
    } else if (words[0] != "stat" && words[0] != "read" && words[0] != "list" && words[0] != "load") {
      add(steps, join_text(words, " "));
    }
  }
  return steps;
}

class PresetCalls : public E2eTest, public testing::WithParamInterface<const char*> {};

TEST_P(PresetCalls, AreTheStepsThatItAnnounces) {
  const std::string preset = GetParam();
  const Ran recorded = run({"record", "--out", at("real"), "--", "{libexec}/get", preset, "{cache}"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const Recording recording = recording_of(History::parse(read_file(at("real/recording.history")).value()).value());

  const std::string one = "[scenario]\nname = \"one\"\n[workload]\ntoolchains = [\"fake\"]\nworkers = 1\ntrials = 1\n";
  const std::string file = scenario(one + "[[subject]]\npreset = \"" + preset + "\"\n[[expect]]\nrecovered = true\n");
  const Ran ran = run({"run", file, "--out", out()});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::string kept;
  for (const std::string& name : list_tree(out())) {
    if (name.ends_with("trial-1.history")) kept = join(out(), name);
  }
  const Steps announced = announced_steps(History::parse(read_file(kept).value()).value());
  EXPECT_GT(announced.size(), 3u);
  EXPECT_EQ(recorded_steps(recording), announced) << recorded.out;
}

INSTANTIATE_TEST_SUITE_P(Presets, PresetCalls, presets_that_build(), name_of_preset);

}  // namespace
}  // namespace jitrace::test
