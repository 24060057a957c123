#include "strategy/run/run.h"

namespace jitrace {

Result<BuildEnd> run_build(RunKind kind, const Build& build, Files& files, const Job& job) {
  switch (kind) {
    case RunKind::exec: return run_exec(build, files, job);
    case RunKind::popen: return run_popen(build, files, job);
    case RunKind::ninja: return run_ninja(build, files, job);
    case RunKind::library: return run_library(build, files, job);
  }
  return plain_error("run the compiler", "unknown way");
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += shell_quoted(word);
  }
  return line;
}

}  // namespace jitrace
