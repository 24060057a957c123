#pragma once

#include <map>
#include <string>
#include <vector>

namespace jitrace::test {

// Every file and directory below `directory`: name → kind, mode, size, time of the last change and content. What equals
// it later was not touched. Names that start with one of `except` (and what is below them) are left out.
std::map<std::string, std::string> tree_digest(const std::string& directory, const std::vector<std::string>& except = {});

}  // namespace jitrace::test
