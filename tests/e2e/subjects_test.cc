// Presets against the real thing: what a recording of the mirrored program does to its cache, in that order, is what the
// preset does.

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"
#include "event/history.h"
#include "plan/recording.h"
#include "process/process.h"

namespace jitrace::test {
namespace {

// Names are the preset's and the real program's own; what counts is the kind of file.
std::string kind_of(const std::string& path) {
  const std::string name = base_of(path);
  if (name == "lock" || name == "build.ninja") return name;
  return name.ends_with(".so") ? "library" : std::string();
}

void add(std::vector<std::string>& steps, const std::string& step) {
  if (steps.empty() || steps.back() != step) steps.push_back(step);
}

// Of a recording, what the loader itself did: "create lock", "write build.ninja", "unlink lock", "load library".
std::vector<std::string> steps_of_real(const Recording& recording) {
  std::vector<std::string> steps;
  for (const RecordedCall& call : recording.calls) {
    if (recording.processes[static_cast<std::size_t>(call.process)].role != "A" || call.result < 0) continue;
    const auto words = split(call.what, ' ');
    const std::string kind = words.size() > 1 ? kind_of(words[1]) : "";
    if (kind.empty()) continue;
    if (words[0] == "open" && call.changed && kind == "lock") add(steps, "create lock");
    else if (words[0] == "unlink") add(steps, "unlink " + kind);
    else if (words[0] == "write") add(steps, "write " + kind);
    else if (words[0] == "open" && kind == "library") add(steps, "load library");
  }
  return steps;
}

std::vector<std::string> steps_of_preset(const History& history) {
  std::vector<std::string> steps;
  for (const Event& event : history.events) {
    if (event.kind != EventKind::file_op || event.a != 0) continue;
    const auto words = split(event.text, ' ');
    const std::string kind = words.size() > 1 ? kind_of(words[1]) : "";
    if (!kind.empty() && words[0] != "read" && words[0] != "probe" && words[0] != "stat") add(steps, words[0] + " " + kind);
  }
  return steps;
}

class Subjects : public E2eTest {};

TEST_F(Subjects, TorchBatonDoesWhatTorchDoes) {
  Command command;
  command.argv = {"/usr/bin/python3", "-c", "import torch, sys; sys.stdout.write(torch.__version__)"};
  const auto torch = run_to_end(command);
  if (!torch || !torch->status.is_exit(0)) GTEST_SKIP() << "there is no torch for /usr/bin/python3: apt-get install python3-torch";
  const Ran recorded = run({"record", "--out", at("real"), "--", "/usr/bin/python3",
                            JITRACE_SOURCE_DIR "/scenarios/subjects/torch_extension.py", "{cache}"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const Recording recording = recording_of(History::parse(read_file(at("real/recording.history")).value()).value());
  // The whole of it: who changes what, in order, runs of writes once.
  std::vector<std::string> changes;
  for (const RecordedCall& call : recording.calls) {
    if (call.changed) add(changes, recording.processes[static_cast<std::size_t>(call.process)].role + ": " + call.what);
  }
  EXPECT_EQ(changes.front(), "A: open lock O_RDONLY|O_CREAT|O_EXCL") << recorded.out;
  EXPECT_EQ(changes.back(), "A: unlink lock") << recorded.out;
  for (const char* step : {"A/ninja/sh/c++/cc1plus: write e.o.d", "A/ninja/sh/c++/as: write e.o", "A/ninja: write .ninja_deps",
                           "A/ninja/sh/c++/collect2/ld: write e.so", "A/ninja: write .ninja_log"}) {
    EXPECT_NE(std::find(changes.begin(), changes.end(), step), changes.end()) << step << "\n" << recorded.out;
  }

  const Ran ran = run({"run", scenario("[scenario]\nname = \"one\"\n[workload]\nkernels = [\"axpy\"]\ntoolchains = [\"cxx\"]\n"
                                       "workers = 1\ntrials = 1\n[[subject]]\npreset = \"torch-baton\"\n[[expect]]\nrecovered = true\n"),
                       "--out", out()});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::string kept;
  for (const std::string& name : list_tree(out())) {
    if (name.ends_with("trial-1.history")) kept = join(out(), name);
  }
  const auto preset = steps_of_preset(History::parse(read_file(kept).value()).value());
  EXPECT_EQ(steps_of_real(recording), preset);
  EXPECT_EQ(preset, (std::vector<std::string>{"create lock", "write build.ninja", "unlink lock", "load library"}));
}

}  // namespace
}  // namespace jitrace::test
