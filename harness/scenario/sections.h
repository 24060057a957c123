#pragma once

#include <string>
#include <vector>

#include "scenario/reader.h"
#include "scenario/scenario.h"

namespace jitrace {

// One reader a section of the file. Each lays what it finds over `out`, complains about the rest and goes on.
struct Reading {
  const Catalogue& catalogue;
  Complaints& complaints;
};

// Where the names of the file's entries stand, for what is checked once all are known.
struct FaultSource {
  Position place;
  std::vector<Word> subjects;
};
struct ExpectSource {
  Position place;
  std::vector<Word> subjects, faults, toolchains;
};
struct SweepSource {
  std::vector<Word> subjects;
};

void read_head(const Node* node, Reading& reading, Scenario& out);
void read_workload(const Node* node, Reading& reading, Workload& out);
void read_cache(const Node* node, Reading& reading, CacheSetup& out);
void read_subjects(const std::vector<const Node*>& nodes, Reading& reading, std::vector<Subject>& out);
void read_faults(const std::vector<const Node*>& nodes, Reading& reading, std::vector<FaultEntry>& out,
                 std::vector<FaultSource>& sources);
void read_expects(const std::vector<const Node*>& nodes, Reading& reading, std::vector<ExpectEntry>& out,
                  std::vector<ExpectSource>& sources);
void read_sweeps(const std::vector<const Node*>& nodes, Reading& reading, std::vector<SweepEntry>& out,
                 std::vector<SweepSource>& sources);

// Shared by the sections.
std::vector<std::string> preset_names(const Catalogue& catalogue);
bool one_of(const Word& word, std::string_view what, const std::vector<std::string>& candidates, Reading& reading);
// Names stand in identifiers and in names of files.
bool good_name(const Word& word, Reading& reading);
// A path inside the cache: relative, without "..".
bool good_path(const Word& word, Reading& reading);
// Nothing for "*", which says every one.
std::vector<Word> read_filter(TableReader& table, std::string_view key);
std::vector<std::string> texts(const std::vector<Word>& words);

}  // namespace jitrace
