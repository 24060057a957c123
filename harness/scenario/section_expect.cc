#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "scenario/sections.h"

namespace jitrace {
namespace {

// `key = 3`, or `key = { min = 1, max = 4 }`.
void read_bounds(TableReader& table, std::string_view key, Reading& reading, std::optional<int>& low,
                 std::optional<int>& high) {
  constexpr int most = 1'000'000;
  const Node* node = table.any(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::table) {
    TableReader bounds(node, std::string(key), reading.complaints);
    low = bounds.integer("min", 0, most);
    high = bounds.integer("max", 0, most);
    bounds.finish();
    if (low && high && *low > *high) {
      reading.complaints.add(node->place, fmt::format("\"{}\" is at least {} and at most {}", key, *low, *high));
    }
  } else {
    low = table.integer(key, 0, most);
    high = low;
  }
}

std::optional<Nanoseconds> read_limit(TableReader& table, std::string_view key) {
  const auto ms = table.number(key, 0, 86'400'000);
  if (!ms) return std::nullopt;
  return static_cast<Nanoseconds>(*ms * 1e6);
}

void read_expect(const Node* node, Reading& reading, std::vector<ExpectEntry>& out, std::vector<ExpectSource>& sources) {
  const std::size_t complaints = reading.complaints.count();
  TableReader table(node, "[[expect]]", reading.complaints);
  ExpectEntry entry;
  Expectation& e = entry.expectation;
  ExpectSource source;
  source.place = table.place();
  source.subjects = read_filter(table, "subject");
  source.faults = read_filter(table, "fault");
  source.toolchains = read_filter(table, "toolchain");
  entry.subjects = texts(source.subjects);
  entry.faults = texts(source.faults);
  entry.toolchains = texts(source.toolchains);
  for (const Word& word : source.toolchains) one_of(word, "toolchain", reading.catalogue.toolchains, reading);
  const auto loaders = read_filter(table, "loader");
  for (const Word& word : loaders) one_of(word, "loader", reading.catalogue.loaders, reading);
  entry.loaders = texts(loaders);
  const auto apis = read_filter(table, "load_api");
  for (const Word& word : apis) one_of(word, "load API", {"library", "module"}, reading);
  entry.load_apis = texts(apis);

  std::map<std::string, std::string_view> seen;
  const auto classes = [&](std::string_view key, std::vector<std::string>& into) {
    for (const Word& word : table.words(key).value_or(std::vector<Word>{})) {
      if (!one_of(word, "finding class", reading.catalogue.finding_classes, reading)) continue;
      const auto [at, fresh] = seen.emplace(word.text, key);
      if (!fresh) {
        reading.complaints.add(word.place, fmt::format("\"{}\" stands in \"{}\" already", word.text, at->second));
        continue;
      }
      into.push_back(word.text);
    }
  };
  classes("always", e.always);
  classes("sometimes", e.sometimes);
  classes("never", e.never);
  e.recovered = table.boolean("recovered");
  e.fell_back = table.boolean("fell_back");
  read_bounds(table, "builds", reading, e.builds_min, e.builds_max);
  read_bounds(table, "builds_per_key", reading, e.builds_per_key_min, e.builds_per_key_max);
  read_bounds(table, "peak_builds", reading, e.peak_builds_min, e.peak_builds_max);
  read_bounds(table, "warnings", reading, e.warnings_min, e.warnings_max);
  e.handoff_max = read_limit(table, "handoff_ms_max");
  e.first_served_max = read_limit(table, "first_served_ms_max");
  e.all_served_max = read_limit(table, "all_served_ms_max");
  const bool complete = reading.complaints.count() == complaints;
  table.finish();
  if (complete && e.empty()) reading.complaints.add(table.place(), "an expectation that promises nothing");
  out.push_back(std::move(entry));
  sources.push_back(std::move(source));
}

}  // namespace

void read_expects(const std::vector<const Node*>& nodes, Reading& reading, std::vector<ExpectEntry>& out,
                  std::vector<ExpectSource>& sources) {
  for (const Node* node : nodes) read_expect(node, reading, out, sources);
}

}  // namespace jitrace
