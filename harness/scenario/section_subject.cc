#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "scenario/sections.h"

namespace jitrace {
namespace {

std::vector<WorkerEntry> read_workers(const std::vector<const Node*>& nodes, Reading& reading) {
  std::vector<WorkerEntry> out;
  for (const Node* node : nodes) {
    TableReader table(node, "a worker", reading.complaints);
    WorkerEntry entry;
    if (const auto preset = table.word("preset")) {
      if (one_of(*preset, "preset", preset_names(reading.catalogue), reading)) entry.preset = preset->text;
    } else {
      reading.complaints.add(table.place(), "a worker needs a preset");
    }
    if (const auto client = table.integer("client", 0, 63)) entry.client = *client;
    if (const auto action = table.word("action");
        action && one_of(*action, "action", {"get", "clear", "force_rebuild"}, reading)) {
      entry.action = action->text;
    }
    const int count = table.integer("count", 1, 4096).value_or(1);
    table.finish();
    out.insert(out.end(), static_cast<std::size_t>(count), entry);
  }
  return out;
}

std::string name_from(const std::vector<WorkerEntry>& workers) {
  std::vector<std::string> names;
  for (const WorkerEntry& worker : workers) {
    if (std::find(names.begin(), names.end(), worker.preset) == names.end()) names.push_back(worker.preset);
  }
  return join_text(names, "+");
}

void read_subject(const Node* node, Reading& reading, std::vector<Subject>& out) {
  TableReader table(node, "[[subject]]", reading.complaints);
  Subject subject;
  const auto preset = table.word("preset");
  const auto presets = table.words("presets");
  const bool has_workers = table.any("workers") != nullptr;
  const auto workers = table.tables("workers");
  const auto command = table.words("command");
  const int forms = (preset ? 1 : 0) + (presets ? 1 : 0) + (has_workers ? 1 : 0) + (command ? 1 : 0);
  if (forms != 1) {
    reading.complaints.add(table.place(), fmt::format("a subject is one of preset, presets, workers, command; this one has {}",
                                                      forms == 0 ? "none of them" : "several"));
  }
  const auto add_preset = [&](const Word& word) {
    if (one_of(word, "preset", preset_names(reading.catalogue), reading)) subject.workers.push_back({word.text, -1, "get"});
  };
  if (preset) add_preset(*preset);
  if (presets) {
    for (const Word& word : *presets) add_preset(word);
    if (presets->empty()) reading.complaints.add(table.place_of("presets"), "\"presets\" is an empty list");
  }
  if (has_workers) {
    subject.workers = read_workers(workers, reading);
    subject.fixed_size = true;
    if (workers.empty()) reading.complaints.add(table.place_of("workers"), "\"workers\" names no worker");
  }
  if (command) {
    subject.command = texts(*command);
    if (command->empty() || command->front().text.empty()) {
      reading.complaints.add(table.place_of("command"), "\"command\" names no program");
    }
  }
  const auto name = table.word("name");
  table.finish();
  if (name) {
    if (!good_name(*name, reading)) return;
    subject.name = name->text;
  } else {
    subject.name = command ? "command" : name_from(subject.workers);
  }
  for (const Subject& other : out) {
    if (!subject.name.empty() && other.name == subject.name) {
      reading.complaints.add(name ? name->place : table.place(),
                             fmt::format("a subject \"{}\" was there before; give one of them a name", subject.name));
    }
  }
  out.push_back(std::move(subject));
}

}  // namespace

void read_subjects(const std::vector<const Node*>& nodes, Reading& reading, std::vector<Subject>& out) {
  for (const Node* node : nodes) read_subject(node, reading, out);
}

}  // namespace jitrace
