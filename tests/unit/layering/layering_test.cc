// Reads the include graph of the sources: an include points to a lower layer or stays in its folder, and each
// third-party library is included by the folders that it was let into.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, int> layers = {
    {"base", 0},   {"event", 1},   {"process", 1}, {"scenario", 2}, {"toolchain", 2}, {"loader", 2}, {"plan", 3},
    {"strategy", 3}, {"search", 4}, {"fault", 4},  {"trace", 4},    {"verdict", 4},   {"worker", 4}, {"daemon", 4},
    {"netfs", 4},  {"qualify", 4}, {"trial", 5},   {"reports", 5},  {"cli", 6}};

const std::vector<std::pair<std::string, std::set<std::string>>> third_party = {
    {"boost/process", {"process"}},  {"boost/asio", {"process"}},  {"toml++", {"scenario"}}, {"nlohmann", {"reports"}},
    {"CLI/", {"cli"}},               {"xxhash", {"event"}},        {"cuda", {"loader", "toolchain"}},
    {"nvrtc", {"loader", "toolchain"}}, {"boost/system", {"base"}}, {"boost/math", {"verdict"}}};

struct Include {
  std::string file;    // relative to the source directory
  std::string folder;  // of harness/, or "reports"
  std::string target;
};

std::vector<Include> includes() {
  std::vector<Include> found;
  const std::regex line_pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  const fs::path root = JITRACE_SOURCE_DIR;
  for (const fs::path& top : {root / "harness", root / "reports"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      const fs::path relative = fs::relative(entry.path(), root);
      const std::string folder = *relative.begin() == "reports" ? "reports" : (++relative.begin())->string();
      std::ifstream file(entry.path());
      std::smatch match;
      for (std::string line; std::getline(file, line);) {
        if (std::regex_search(line, match, line_pattern)) found.push_back({relative, folder, match[1]});
      }
    }
  }
  return found;
}

TEST(Layering, EveryFolderHasALayer) {
  for (const Include& include : includes()) {
    EXPECT_TRUE(layers.contains(include.folder)) << include.file << " lies in a folder that the table does not know";
  }
}

TEST(Layering, IncludesPointDownOrStay) {
  int own = 0;
  for (const Include& include : includes()) {
    const std::string target = include.target.substr(0, include.target.find('/'));
    if (include.target.find('/') == std::string::npos || !layers.contains(target)) continue;
    ++own;
    EXPECT_TRUE(target == include.folder || layers.at(target) < layers.at(include.folder))
        << include.file << " includes " << include.target << ", which is not below it";
  }
  EXPECT_GT(own, 100) << "the reader of includes has gone blind";
}

TEST(Layering, ThirdPartyHeadersStayInTheirFolder) {
  for (const Include& include : includes()) {
    for (const auto& [prefix, folders] : third_party) {
      if (!include.target.starts_with(prefix)) continue;
      EXPECT_TRUE(folders.contains(include.folder)) << include.file << " includes " << include.target;
    }
  }
}

TEST(Layering, FilesStayShort) {
  const fs::path root = JITRACE_SOURCE_DIR;
  for (const fs::path& top : {root / "harness", root / "reports"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream file(entry.path());
      int lines = 0;
      for (std::string line; std::getline(file, line);) ++lines;
      EXPECT_LE(lines, 400) << entry.path() << " is to be split";
    }
  }
}

}  // namespace
