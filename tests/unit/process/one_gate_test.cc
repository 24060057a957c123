#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "base/text.h"

namespace jitrace {
namespace {

// Whoever waits beside process/reaper.cc could leave another part of the program with a number that is a stranger's.
TEST(OneGate, OnlyTheReaperWaits) {
  const std::regex wait(R"(\b(waitpid|waitid|wait3|wait4)\s*\(|[^A-Za-z_]::wait\s*\()");
  int seen_in_reaper = 0, files = 0;
  for (const char* folder : {"harness", "reports"}) {
    const std::string root = std::string(JITRACE_SOURCE_DIR) + "/" + folder;
    for (const std::string& name : list_tree(root)) {
      if (!name.ends_with(".cc") && !name.ends_with(".h")) continue;
      ++files;
      int line_number = 0;
      for (const std::string& line : split(read_file(join(root, name)).value(), '\n')) {
        ++line_number;
        if (!std::regex_search(line.substr(0, line.find("//")), wait)) continue;
        if (name == "process/reaper.cc") ++seen_in_reaper;
        else ADD_FAILURE() << folder << "/" << name << ":" << line_number << ": waits beside the reaper: " << line;
      }
    }
  }
  EXPECT_GT(files, 20);
  EXPECT_GT(seen_in_reaper, 0) << "the pattern has gone blind";
}

}  // namespace
}  // namespace jitrace
