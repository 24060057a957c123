#include "cli/preload.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "plan/recording.h"
#include "trace/zygote.h"
#include "verdict/sweep_cell.h"

namespace jitrace {

std::string preload_refusal(const std::vector<std::string>& command, const std::vector<std::string>& modules) {
  const auto is_name = [](const std::string& name) {
    return !name.empty() && name.find_first_of(" \t/-=") == std::string::npos && !name.ends_with('.');
  };
  for (const std::string& module : modules) {
    if (!is_name(module)) return "\"" + module + "\" is no name of a Python module";
  }
  return Zygote::refusal(command);
}

std::optional<ExitCode> preload(TracedRun& run, const std::vector<std::string>& modules, std::string* socket) {
  const auto refuse = [](const std::string& why) {
    std::fprintf(stderr, "jitrace: --preload: %s\n", why.c_str());
    return ExitCode::usage;
  };
  const Zygote::Wanted wanted = run.zygote_wanted(modules);
  const auto imports = Zygote::imports_alone(wanted);
  if (!imports) return refuse(imports.error().message());
  // What they did there before the fork, every trial would find done.
  TracePlan alone = run.base();
  alone.command = *imports;
  const auto history = run.run_one(alone);
  if (!history) return stopped(run, history.error());
  if (const std::string failure = failure_of(*history); !failure.empty()) {
    return refuse("the imports fail: " + failure);
  }
  if (const Recording recording = recording_of(*history); !recording.calls.empty()) {
    return refuse("importing " + join_text(modules, ", ") + " uses the cache, so it is a part of each trial: " +
                  recording.calls.front().what);
  }
  auto zygote = Zygote::start(wanted, run.interrupt());
  if (!zygote && zygote.error().code == ECANCELED) return stopped(run, zygote.error());
  if (!zygote) return refuse(zygote.error().message());
  *socket = zygote->socket();
  run.keep(std::move(*zygote));
  return std::nullopt;
}

}  // namespace jitrace
