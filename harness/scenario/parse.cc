#include "scenario/parse.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "scenario/sections.h"

namespace jitrace {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

// The most workers that a cell of this fault can have.
int most_workers(const Scenario& scenario, const FaultEntry& fault) {
  const auto& sizes = scenario.workload.workers;
  int most = fault.workers.value_or(*std::max_element(sizes.begin(), sizes.end()));
  for (const Subject& subject : scenario.subjects) {
    const bool meant = fault.subjects.empty() || contains(fault.subjects, subject.name);
    if (meant && subject.fixed_size) most = std::max(most, static_cast<int>(subject.workers.size()));
  }
  return most;
}

// What a fault says that only the rest of the file shows to be wrong.
void check_faults(const Scenario& scenario, const std::vector<FaultSource>& sources, Reading& reading) {
  const int kernels = static_cast<int>(scenario.workload.kernels.size());
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultEntry& fault = scenario.faults[i];
    const Position place = i < sources.size() ? sources[i].place : Position{};
    if (fault.keys && *fault.keys > kernels) {
      reading.complaints.add(place, fmt::format("{} keys need as many kernels, and there are {}", *fault.keys, kernels));
    }
    const int workers = most_workers(scenario, fault);
    for (const FaultStep& step : fault.steps) {
      if (!step.at_random && fault.mode.value_or(scenario.workload.mode) == "free") {
        reading.complaints.add(place, "a fault at a point needs the gated mode: in the free one nothing is held");
      }
      if (step.who == Victim::worker && step.index > workers) {
        reading.complaints.add(place, fmt::format("there is no worker {}: they are {}", step.index, workers));
      }
      if (step.waiters >= workers) {
        reading.complaints.add(place, fmt::format("{} others cannot wait: there are {} workers", step.waiters, workers));
      }
    }
  }
}

// What only shows once all sections are read: names that point from one to another.
void check_links(const Scenario& scenario, const std::vector<FaultSource>& faults, const std::vector<ExpectSource>& expects,
                 Reading& reading) {
  std::vector<std::string> subject_names, fault_names, toolchain_names = scenario.workload.toolchains;
  for (const Subject& subject : scenario.subjects) subject_names.push_back(subject.name);
  for (const FaultEntry& fault : scenario.faults) fault_names.push_back(fault.name);
  toolchain_names.insert(toolchain_names.end(), scenario.workload.each_toolchain.begin(),
                         scenario.workload.each_toolchain.end());
  const auto known = [&](const std::vector<Word>& words, std::string_view what, const std::vector<std::string>& names) {
    bool all = true;
    for (const Word& word : words) all = one_of(word, what, names, reading) && all;
    return all;
  };
  for (const FaultSource& fault : faults) known(fault.subjects, "subject", subject_names);
  for (std::size_t i = 0; i < expects.size(); ++i) {
    const ExpectSource& source = expects[i];
    const bool subjects_known = known(source.subjects, "subject", subject_names);
    const bool faults_known = known(source.faults, "fault", fault_names);
    if (!subjects_known || !faults_known) continue;
    const ExpectEntry& expect = scenario.expects[i];
    bool matches = false;
    for (const FaultEntry& fault : scenario.faults) {
      if (!contains(expect.faults, fault.name)) continue;
      for (const Subject& subject : scenario.subjects) {
        matches = matches || (contains(expect.subjects, subject.name) && contains(fault.subjects, subject.name));
      }
    }
    const bool runs = expect.toolchains.empty() ||
                      std::any_of(toolchain_names.begin(), toolchain_names.end(),
                                  [&](const std::string& name) { return contains(expect.toolchains, name); });
    if (!matches || !runs) reading.complaints.add(source.place, "this expectation matches no cell");
  }
  check_faults(scenario, faults, reading);
}

Position place_of(const Node::Member* member) { return member == nullptr ? Position{} : member->place; }

std::string stem(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  if (file.ends_with(".toml")) file.remove_suffix(5);
  return file.empty() ? "scenario" : std::string(file);
}

struct Sources {
  std::vector<FaultSource> faults;
  std::vector<ExpectSource> expects;
  std::vector<SweepSource> sweeps;
};

// Lays the document over the scenario.
void read_document(const Node& root, Reading& reading, Scenario& scenario, Sources& sources) {
  TableReader table(&root, "", reading.complaints);
  read_head(table.table("scenario"), reading, scenario);
  read_workload(table.table("workload"), reading, scenario.workload);
  read_cache(table.table("cache"), reading, scenario.cache);
  read_subjects(table.tables("subject"), reading, scenario.subjects);
  read_faults(table.tables("fault"), reading, scenario.faults, sources.faults);
  read_expects(table.tables("expect"), reading, scenario.expects, sources.expects);
  read_sweeps(table.tables("sweep"), reading, scenario.sweeps, sources.sweeps);
  table.finish();
}

void check_sweeps(const Scenario& scenario, const std::vector<SweepSource>& sources, Reading& reading) {
  std::vector<std::string> subjects;
  for (const Subject& subject : scenario.subjects) subjects.push_back(subject.name);
  for (const SweepSource& source : sources) {
    for (const Word& word : source.subjects) one_of(word, "subject", subjects, reading);
  }
}

// What lies beside the scenario is found wherever it is started from.
void put_here(Scenario& scenario) {
  constexpr std::string_view name = "{here}";
  std::error_code code;
  const std::string here = std::filesystem::absolute(scenario.file, code).lexically_normal().parent_path();
  for (Subject& subject : scenario.subjects) {
    for (std::string& word : subject.command) {
      for (std::size_t at = 0; (at = word.find(name, at)) != std::string::npos; at += here.size()) word.replace(at, name.size(), here);
    }
  }
}

void apply_defaults(const Catalogue& catalogue, Scenario& scenario) {
  // What the built-in file says wrong is for its own test to find; a catalogue of a test may lack its kernel.
  Complaints unheard("defaults.toml");
  Reading reading{catalogue, unheard};
  Sources sources;
  read_document(parse_document(default_scenario()).root, reading, scenario, sources);
}

}  // namespace

ParsedScenario parse_scenario(std::string_view text, std::string_view file, const Catalogue& catalogue) {
  Complaints complaints(file);
  Reading reading{catalogue, complaints};
  Scenario scenario;
  apply_defaults(catalogue, scenario);
  scenario.file = std::string(file);
  scenario.name = stem(file);
  const Document document = parse_document(text);
  if (!document.parsed) {
    complaints.add(document.error_place, document.error);
    return {std::nullopt, complaints.sorted()};
  }
  Sources sources;
  read_document(document.root, reading, scenario, sources);
  if (scenario.subjects.empty()) {
    complaints.add(place_of(document.root.find("subject")), "there is no [[subject]], so nothing to test");
  }
  if (scenario.faults.empty()) scenario.faults.push_back({});  // the control alone
  check_links(scenario, sources.faults, sources.expects, reading);
  check_sweeps(scenario, sources.sweeps, reading);
  if (!complaints.none()) return {std::nullopt, complaints.sorted()};
  put_here(scenario);
  return {std::move(scenario), {}};
}

ParsedScenario load_scenario(const std::string& path, const Catalogue& catalogue) {
  const auto text = read_file(path);
  if (!text) return {std::nullopt, {text.error().message()}};
  return parse_scenario(*text, path, catalogue);
}

}  // namespace jitrace
