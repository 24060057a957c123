#include <algorithm>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace jitrace {
namespace {

// A pattern over a call, such as "open lock *O_EXCL*".
void read_pattern(TableReader& table, std::string_view key, Reading& reading, std::string& into) {
  const auto word = table.word(key);
  if (!word) return;
  if (word->text.empty()) reading.complaints.add(word->place, fmt::format("\"{}\" matches no step; leave it out", key));
  into = word->text;
}

void read_sweep(const Node* node, Reading& reading, std::vector<SweepEntry>& out, std::vector<SweepSource>& sources) {
  const std::size_t complaints = reading.complaints.count();
  TableReader table(node, "[[sweep]]", reading.complaints);
  SweepEntry entry;
  SweepSource source;
  source.subjects = read_filter(table, "subject");
  entry.subjects = texts(source.subjects);
  entry.faults = texts(read_filter(table, "fault"));
  read_pattern(table, "after", reading, entry.after);
  read_pattern(table, "until", reading, entry.until);
  read_pattern(table, "role", reading, entry.role);
  if (entry.after.empty() && table.any("role") != nullptr) {
    reading.complaints.add(table.place_of("role"), "\"role\" says who makes the call of \"after\", which is not there");
  }
  if (!entry.faults.empty()) {
    for (const char* key : {"until", "columns"}) {
      if (table.any(key) != nullptr) reading.complaints.add(table.place_of(key), fmt::format("\"{}\" is about kills, and \"fault\" is none", key));
    }
  }
  const auto columns = read_filter(table, "columns");
  for (const Word& word : columns) one_of(word, "column", reading.catalogue.sweep_columns, reading);
  entry.columns = texts(columns);
  const auto ends = table.words("ends").value_or(std::vector<Word>{});
  for (const Word& word : ends) one_of(word, "end", reading.catalogue.sweep_ends, reading);
  entry.ends = texts(ends);
  const bool complete = reading.complaints.count() == complaints;
  table.finish();
  if (complete && ends.empty()) {
    reading.complaints.add(table.place_of("ends"), "\"ends\" says what the cells have to show; it names nothing");
  }
  out.push_back(std::move(entry));
  sources.push_back(std::move(source));
}

}  // namespace

void read_sweeps(const std::vector<const Node*>& nodes, Reading& reading, std::vector<SweepEntry>& out,
                 std::vector<SweepSource>& sources) {
  for (const Node* node : nodes) read_sweep(node, reading, out, sources);
}

}  // namespace jitrace
