// `jitrace record -- COMMAND`: what a program does to its cache and its locks, a line a call or a run of calls.
#include <cstdio>
#include <map>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/traced.h"
#include "plan/recording.h"
#include "reports/escape.h"
#include "verdict/sweep_cell.h"

namespace jitrace {
namespace {

std::string result_words(const RecordedCall& call) {
  if (call.result >= 0) return "";
  return std::string(" -> ") + ::strerrordesc_np(static_cast<int>(-call.result));
}

struct Line {
  const RecordedCall* call;
  std::size_t count = 1;
};

// Runs of the same call by the same process, which differ in nothing that is shown, are one line.
std::vector<Line> lines_of(const Recording& recording) {
  std::vector<Line> lines;
  for (const RecordedCall& call : recording.calls) {
    const bool same = !lines.empty() && lines.back().call->process == call.process && lines.back().call->what == call.what &&
                      (lines.back().call->result < 0) == (call.result < 0) && lines.back().call->changed == call.changed;
    if (same) ++lines.back().count;
    else lines.push_back({&call});
  }
  return lines;
}

std::string text_of(const Recording& recording) {
  std::string lines;
  char head[64];
  for (const Line& line : lines_of(recording)) {
    std::string out;
    std::snprintf(head, sizeof head, "%9.3f %c ", to_ms(line.call->at), line.call->changed ? '*' : ' ');
    out += head + recording.processes[static_cast<std::size_t>(line.call->process)].role + ": " + line.call->what;
    if (line.count > 1) out += " x " + std::to_string(line.count);
    out += result_words(*line.call);
    lines += for_terminal(out) + "\n";
  }
  return lines;
}

}  // namespace

ExitCode record_command(const TracedOptions& options) {
  ExitCode code = ExitCode::met;
  const auto run = TracedRun::begin(options, "record", 1, &code);
  if (!run) return code;
  const auto history = run->first_recording();
  if (!history) return stopped(*run, history.error());
  const Recording recording = recording_of(*history);
  const std::string text = text_of(recording);
  std::size_t changes = 0;
  for (const RecordedCall& call : recording.calls) changes += call.changed ? 1 : 0;
  std::printf("# %s\n# ms since the start; * changed the cache or a lock; %zu calls, %zu changes, %zu processes\n%s",
              for_terminal(shell_line(options.command)).c_str(), recording.calls.size(), changes, recording.processes.size(), text.c_str());
  for (const std::string& path : touched(recording, run->beside())) {
    std::printf("# outside of the cache, and shared: %s\n", for_terminal(path).c_str());
  }
  for (const Event& event : history->events) {
    if (event.kind == EventKind::warned) std::printf("# not followed: %s\n", for_terminal(event.text).c_str());
  }
  const auto saved = write_file_atomically(join(run->dir().path(), "recording.history"), history->text());
  if (!saved) return complain(saved.error(), ExitCode::unusable);
  std::printf("# kept in %s\n", shown_path(run->dir().path()).c_str());
  const std::string failure = failure_of(*history);
  if (!failure.empty()) {
    std::fprintf(stderr, "jitrace: the command did not end well: %s\n", failure.c_str());
    return ExitCode::findings;
  }
  if (recording.calls.empty()) {
    std::fprintf(stderr, "jitrace: the command never touched the cache; is {cache} among its arguments?\n");
    return ExitCode::inconclusive;
  }
  return ExitCode::met;
}

}  // namespace jitrace
