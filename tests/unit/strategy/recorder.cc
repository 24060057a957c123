#include "unit/strategy/recorder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

namespace jitrace {

std::string masked(std::string text) {
  static const std::regex private_name("tmp/[-.0-9a-z]+");
  static const std::regex digest("\\.[0-9a-f]{16}");
  text = std::regex_replace(text, private_name, "tmp/*");
  return std::regex_replace(text, digest, ".*");
}

void Recorder::reach(Point point, std::string_view path, std::uint64_t) {
  {
    const std::scoped_lock lock(mutex_);
    lines_.push_back("@" + std::string(name_of(point)) + " " + masked(std::string(path)));
  }
  if (at_point) at_point(point);
}

void Recorder::note(Event&& event) {
  const std::scoped_lock lock(mutex_);
  const EventKind kind = event.kind;
  if (kind == EventKind::file_op) {
    lines_.push_back("op " + masked(event.text) + (event.a == 0 ? "" : " !" + std::to_string(event.a)));
  } else if (kind == EventKind::waiting) {
    lines_.push_back("wait " + std::string(name_of(static_cast<ConditionKind>(event.a))) +
                     (event.text.empty() ? "" : " " + masked(event.text)));
  } else if (kind == EventKind::wait_over) {
    lines_.push_back("over " + std::to_string(event.a));
  } else if (kind == EventKind::attempt_begin) {
    lines_.push_back("+attempt");
  } else if (kind == EventKind::attempt_end) {
    lines_.push_back("-attempt " + std::to_string(event.a));
  } else if (kind == EventKind::warned) {
    lines_.push_back("warn " + event.text.substr(0, 39));
  } else if (kind == EventKind::loaded) {
    lines_.push_back("loaded " + std::to_string(event.a));
  }
  events.push_back(std::move(event));
}

void Recorder::tool_begin(ToolRole role, std::uint32_t, std::string_view) {
  const std::scoped_lock lock(mutex_);
  lines_.push_back("tool " + std::string(name_of(role)));
}

std::vector<std::string> Recorder::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(lines_, {});
}

std::vector<std::string> Recorder::lines_with(const std::string& prefix) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> found;
  for (const std::string& line : lines_) {
    if (line.starts_with(prefix)) found.push_back(line);
  }
  return found;
}

std::vector<std::string> Recorder::points() const {
  std::vector<std::string> names;
  for (const std::string& line : lines_with("@")) names.push_back(line.substr(1, line.find(' ') - 1));
  return names;
}

Bench::Bench(int keys)
    : directory(
          std::move(*TempDir::create(std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp", "strategy"))) {
  job.root = directory.path() + "/cache";
  job.scratch = directory.path() + "/scratch";
  EXPECT_TRUE(make_dirs(job.root));
  EXPECT_TRUE(make_dirs(job.scratch));
  job.toolchain = {ToolchainKind::fake, "fake", std::string(JITRACE_LIBEXEC) + "/fake_compiler", "1"};
  job.compiler = job.toolchain.program;
  job.libexec = JITRACE_LIBEXEC;
  job.arch = "sm_90a";
  job.loader.kind = "fake";
  job.seed = 7;
  for (int i = 0; i < keys; ++i) job.keys.push_back({"k" + std::to_string(i), "__global__ void k() {}\n", 0});
}

}  // namespace jitrace
