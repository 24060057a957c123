#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "support/driver.h"
#include "support/leftovers.h"

namespace jitrace::test {

// A user's surroundings: a home with files of his in it, a directory for caches with a file of his in it, a directory to
// work in. When a test ends, his files are as they were, and nothing lives, holds a lock, is mounted or lies in the
// directory for caches that was not there before.
class E2eTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string at(const std::string& name) const { return root_ + "/" + name; }
  std::string cache() const { return at("cache"); }
  std::string out() const { return at("out"); }

  // Writes a file below the root, with the directories it needs; returns its path.
  std::string put(const std::string& name, const std::string& content, unsigned mode = 0644) const;
  // A scenario of its own; its kernels are the repository's unless a directory `kernels` lies beside it.
  std::string scenario(const std::string& text) const { return put("work/scenario.toml", text); }

  Call call(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) const;
  Ran run(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) const;
  Driver start(std::vector<std::string> arguments, const std::vector<std::string>& environment = {}) const;

  Leftovers leftovers() const { return {marker_, root_}; }
  // What has to hold once a driver has ended, whatever ended it; its guards get a moment to finish.
  void expect_nothing_left(const std::vector<std::string>& mounts = {}) const;
  void expect_user_files_untouched() const;

  std::string program_ = JITRACE_BINARY_DIR "/jitrace";

 private:
  std::map<std::string, std::string> user_files() const;
  std::optional<TempDir> directory_;
  std::string root_;
  std::string marker_;
  std::map<std::string, std::string> before_;
};

// The scenario that comes with the program.
inline constexpr const char* smoke = JITRACE_SOURCE_DIR "/scenarios/smoke.toml";

// One cell, one trial, a strategy that works; `more` comes after it.
std::string quick_scenario(const std::string& more = {}, const std::string& workload = {});

// "" if there are none.
std::string lines_of(const std::vector<std::string>& lines);
// The lines that take more than `columns`; one word alone (a path) may.
std::vector<std::string> wide_lines(const std::string& text, std::size_t columns);
// Sentences: not empty, and no more than `limit` lines.
int line_count(const std::string& text);

}  // namespace jitrace::test
