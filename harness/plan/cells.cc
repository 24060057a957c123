#include "plan/cells.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/text.h"
#include "plan/applicable.h"
#include "plan/expected.h"

namespace jitrace {
namespace {

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A toolchain of the cells, or the reason why there is none.
struct Choice {
  std::string name;
  std::string skipped;
};

// Every usable toolchain of that kind: several, where several versions of nvcc were asked for.
std::vector<Choice> usable_ones(const std::string& wanted, const Usable& usable) {
  std::vector<Choice> out;
  for (const std::string& name : usable.toolchains) {
    if (name == wanted || toolchain_kind(name) == wanted) out.push_back({name, ""});
  }
  return out;
}

std::vector<Choice> choose_toolchains(const Workload& workload, const CataloguePreset* preset, const Usable& usable) {
  std::vector<Choice> out;
  if (!workload.each_toolchain.empty()) {
    for (const std::string& wanted : workload.each_toolchain) {
      auto found = usable_ones(wanted, usable);
      if (found.empty()) found.push_back({wanted, wanted + " is not usable on this machine"});
      out.insert(out.end(), found.begin(), found.end());
    }
    return out;
  }
  for (const std::string& wanted : workload.toolchains) {
    // A preset that works through ninja cannot prefer a compiler that is a library.
    if (wanted == "nvrtc" && preset != nullptr && preset->run == "ninja" && workload.toolchains.size() > 1) continue;
    out = usable_ones(wanted, usable);
    if (!out.empty()) return out;
  }
  return {{workload.toolchains.front(), fmt::format("none of {} is usable on this machine", join_text(workload.toolchains, ", "))}};
}

// The definite faults that a step with `*` stands for.
std::vector<FaultEntry> definite(const FaultEntry& fault, const CataloguePreset* preset, const std::string& toolchain) {
  const auto star = std::find_if(fault.steps.begin(), fault.steps.end(),
                                 [](const FaultStep& step) { return step.every_victim || step.every_point; });
  if (star == fault.steps.end() || preset == nullptr) return {fault};
  std::vector<FaultEntry> out;
  for (const auto& [victim, point] : kill_points(*preset, toolchain)) {
    if (!star->every_victim && victim != star->who) continue;
    if (!star->every_point && point != star->at) continue;
    FaultEntry one = fault;
    FaultStep& step = one.steps[static_cast<std::size_t>(star - fault.steps.begin())];
    step.every_victim = step.every_point = false;
    step.who = victim;
    step.at = point;
    out.push_back(std::move(one));
  }
  if (out.empty()) out.push_back(fault);  // not applicable: the cell says so
  return out;
}

std::string why_not_applicable(const Subject& subject, const FaultEntry& fault, const Catalogue& catalogue,
                               const std::string& toolchain) {
  if (!subject.command.empty()) {
    if (!fault.before.empty()) return "a command's cache is its own: nothing is known to prepare in it";
    for (const FaultStep& step : fault.steps) {
      if (!step.at_random) return "a command announces no points; it can be hit at = \"random\"";
      if (step.who != Victim::worker && step.who != Victim::tree) return "of a command, the worker or its tree can be hit";
    }
    return "";
  }
  for (const WorkerEntry& worker : subject.workers) {
    const CataloguePreset* preset = catalogue.find(worker.preset);
    if (preset != nullptr && preset->run == "ninja" && toolchain == "nvrtc") {
      return fmt::format("{} builds with ninja, and nvrtc is a library", preset->name);
    }
  }
  // Of a mix, one preset that passes the point is enough.
  for (const FaultStep& step : fault.steps) {
    std::string why;
    for (const WorkerEntry& worker : subject.workers) {
      const CataloguePreset* preset = catalogue.find(worker.preset);
      if (preset == nullptr) continue;
      why = why_not(step, *preset, toolchain);
      if (why.empty()) break;
    }
    if (!why.empty()) return why;
    if (step.every_victim || step.every_point) return "there is nobody to hit";
  }
  return "";
}

// A number that no worker of this cell has.
std::string why_no_worker(const FaultEntry& fault, int workers) {
  for (const FaultStep& step : fault.steps) {
    if (step.who == Victim::worker && step.index > workers) return fmt::format("there is no worker {}: they are {}", step.index, workers);
    if (step.waiters >= workers) return fmt::format("{} others cannot wait: there are {} workers", step.waiters, workers);
  }
  return "";
}

std::uint64_t text_bits(std::string_view text) {  // FNV-1a, written out: the same on every machine
  std::uint64_t bits = 0xcbf29ce484222325u;
  for (const char c : text) bits = (bits ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return bits;
}

bool loads_cubins(const std::string& loader) { return loader == "cuda" || loader == "elf"; }

// The cells of one subject under one cause.
class CellBuilder {
 public:
  CellBuilder(const Scenario& scenario, const Catalogue& catalogue, const Usable& usable, std::vector<CellPlan>& out)
      : scenario_(scenario), catalogue_(catalogue), usable_(usable), out_(out) {}

  void add(const Subject& subject, const FaultEntry& fault) {
    const CataloguePreset* preset = subject.workers.empty() ? nullptr : catalogue_.find(subject.workers.front().preset);
    if (preset == nullptr) {
      add_sizes(subject, fault, {"command", ""}, "host", "", "");
      return;
    }
    for (const Choice& choice : choose_toolchains(scenario_.workload, preset, usable_)) {
      const std::string kind = toolchain_kind(choice.name);
      for (const FaultEntry& one : definite(fault, preset, kind)) {
        for (const std::string& arch : kind == "cxx" ? std::vector<std::string>{"host"} : scenario_.workload.archs) {
          const std::string loader = loader_for(*preset, kind, scenario_.workload.loader, usable_);
          const auto& apis = scenario_.workload.load_apis;
          const auto last = loads_cubins(loader) ? apis.end() : apis.begin() + 1;
          for (auto api = apis.begin(); api != last; ++api) add_sizes(subject, one, choice, arch, loader, *api);
        }
      }
    }
  }

 private:
  void add_sizes(const Subject& subject, const FaultEntry& fault, const Choice& toolchain, const std::string& arch,
                 const std::string& loader, const std::string& api) {
    const auto sizes = fault.workers ? std::vector<int>{*fault.workers} : scenario_.workload.workers;
    const auto keys = fault.keys ? std::vector<int>{*fault.keys} : scenario_.workload.keys;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (subject.fixed_size && i > 0) break;  // it says itself how many there are
      for (const int key : keys) {
        CellPlan cell;
        cell.subject = subject;
        cell.fault = fault;
        cell.toolchain = toolchain.name;
        cell.arch = arch;
        cell.loader = loader;
        cell.load_api = api;
        cell.workers = subject.fixed_size ? static_cast<int>(subject.workers.size()) : sizes[i];
        cell.keys = key == 0 ? static_cast<int>(scenario_.workload.kernels.size()) : key;
        cell.trials = fault.trials.value_or(scenario_.workload.trials);
        cell.mode = !subject.command.empty() ? Mode::free
                                             : parse_mode(fault.mode.value_or(scenario_.workload.mode)).value_or(Mode::gated);
        cell.id = id_of(cell, fault, sizes.size() > 1 && !subject.fixed_size, keys.size() > 1);
        const std::string kind = toolchain_kind(toolchain.name);
        cell.not_applicable = why_not_applicable(subject, fault, catalogue_, kind);
        if (cell.not_applicable.empty()) cell.not_applicable = why_not_loaded(cell);
        if (cell.not_applicable.empty()) cell.not_applicable = why_no_worker(fault, cell.workers);
        cell.skipped = toolchain.skipped.empty() ? why_no_loader(cell) : toolchain.skipped;
        if (!cell.not_applicable.empty()) cell.skipped.clear();
        cell.expectation = expectation_of(scenario_, cell);
        out_.push_back(std::move(cell));
      }
    }
  }

  std::string id_of(const CellPlan& cell, const FaultEntry& fault, bool many_sizes, bool many_keys) const {
    std::string id = cell.subject.name + "/" + fault.name;
    const auto as_written = std::find_if(scenario_.faults.begin(), scenario_.faults.end(),
                                         [&](const FaultEntry& entry) { return entry.name == fault.name; });
    for (std::size_t i = 0; as_written != scenario_.faults.end() && i < fault.steps.size(); ++i) {
      const FaultStep& step = fault.steps[i];
      if (as_written->steps[i].every_victim) id += fmt::format("/{}", name_of(step.who));
      if (as_written->steps[i].every_point) id += fmt::format("/{}", name_of(step.at));
    }
    std::string toolchain = cell.toolchain;
    std::replace(toolchain.begin(), toolchain.end(), '/', '_');
    if (cell.subject.command.empty()) id += "/" + toolchain + "/" + cell.arch;
    if (scenario_.workload.load_apis.size() > 1 && loads_cubins(cell.loader)) id += "/" + cell.load_api;
    if (many_sizes) id += fmt::format("/{}-workers", cell.workers);
    if (many_keys) id += fmt::format("/{}-keys", cell.keys);
    return id;
  }

  // A wanted loader that is none for what this cell makes.
  std::string why_not_loaded(const CellPlan& cell) const {
    const std::string& wanted = scenario_.workload.loader;
    if (cell.loader.empty() || wanted == "auto" || wanted == cell.loader) return "";
    if (loads_cubins(wanted)) return "";  // it says how cubins are loaded, and this is none
    return fmt::format("what {} makes of it is not for the {} loader", toolchain_kind(cell.toolchain), wanted);
  }

  std::string why_no_loader(const CellPlan& cell) const {
    if (cell.loader.empty() || has(usable_.loaders, cell.loader)) return "";
    return fmt::format("the {} loader is not usable on this machine", cell.loader);
  }

  const Scenario& scenario_;
  const Catalogue& catalogue_;
  const Usable& usable_;
  std::vector<CellPlan>& out_;
};

}  // namespace

std::string toolchain_kind(std::string_view name) { return std::string(name.substr(0, name.find('@'))); }

std::string loader_for(const CataloguePreset& preset, std::string_view toolchain, const std::string& wanted,
                       const Usable& usable) {
  if (toolchain == "fake") return "fake";
  if (toolchain == "cxx" || preset.run == "ninja") return "dlopen";
  if (loads_cubins(wanted)) return wanted;
  return has(usable.loaders, "cuda") ? "cuda" : "elf";
}

std::vector<CellPlan> cells_of(const Scenario& scenario, const Catalogue& catalogue, const Usable& usable) {
  std::vector<CellPlan> out;
  CellBuilder builder(scenario, catalogue, usable, out);
  for (const Subject& subject : scenario.subjects) {
    for (const FaultEntry& fault : scenario.faults) {
      if (!fault.subjects.empty() && !has(fault.subjects, subject.name)) continue;
      builder.add(subject, fault);
    }
  }
  return out;
}

Plan plan_of(const Scenario& scenario, const CellPlan& cell, int trial) {
  const Workload& workload = scenario.workload;
  const FaultEntry& fault = cell.fault;
  Plan plan;
  plan.scenario = scenario.name;
  plan.cell = cell.id;
  plan.trial = trial;
  plan.seed = derive_seed(derive_seed(workload.seed, text_bits(cell.id)), static_cast<std::uint64_t>(trial));
  plan.mode = cell.mode;
  plan.subject = cell.subject.name;
  plan.cause = fault.name;
  plan.command = cell.subject.command;
  plan.toolchain = cell.toolchain;
  plan.arch = cell.arch;
  plan.loader = cell.loader;
  plan.load_api = cell.load_api;
  plan.device = workload.device.empty() ? cell.arch : workload.device;
  const auto kernels = std::min(workload.kernels.size(), static_cast<std::size_t>(cell.keys));
  plan.kernels.assign(workload.kernels.begin(), workload.kernels.begin() + static_cast<std::ptrdiff_t>(kernels));
  plan.rounds = fault.rounds.value_or(workload.rounds);
  plan.gets = fault.gets.value_or(workload.gets);
  plan.clients = std::max(1, fault.clients.value_or(scenario.cache.clients));
  plan.cache_dirs = scenario.cache.dirs;
  plan.rename = fault.rename.value_or(scenario.cache.rename);
  plan.bound_scale = fault.bound_scale.value_or(workload.bound_scale);
  plan.fake_duration = workload.fake_duration;
  plan.watchdog = fault.watchdog.value_or(workload.watchdog);
  for (const BeforeStep& step : fault.before) plan.before.push_back({step.action, step.path, step.content});
  for (const FaultStep& step : fault.steps) {
    FaultPlan planned;
    planned.kind = step.what.kind;
    planned.who = step.who;
    planned.index = step.index;
    planned.point = step.at;
    planned.occurrence = step.occurrence;
    planned.waiters = step.waiters;
    planned.signal = step.what.signal;
    planned.damage = step.what.damage;
    planned.path = step.path;
    planned.order = step.order;
    planned.until = step.until;
    planned.at_random = step.at_random;
    plan.faults.push_back(std::move(planned));
  }
  for (int i = 0; i < cell.workers; ++i) {
    WorkerPlan worker;
    if (!cell.subject.workers.empty()) {
      const WorkerEntry& entry = cell.subject.workers[static_cast<std::size_t>(i) % cell.subject.workers.size()];
      worker.preset = entry.preset;
      worker.action = entry.action;
      worker.client = entry.client;
    }
    if (cell.subject.workers.empty() || worker.client < 0) worker.client = i;
    worker.client %= plan.clients;
    plan.workers.push_back(std::move(worker));
  }
  return plan;
}

}  // namespace jitrace
