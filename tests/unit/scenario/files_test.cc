// Every scenario of the repository, against the presets that there are: each parses, and what cannot strike is what was
// meant not to.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "plan/cells.h"
#include "strategy/preset.h"
#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

const std::string root = std::string(JITRACE_SOURCE_DIR) + "/scenarios";
const Usable all{{"nvcc", "nvrtc", "cxx", "fake"}, {"elf", "dlopen", "fake"}};

Catalogue real_catalogue() {
  Catalogue catalogue;
  for (const auto* table : {&presets(), &preset_variants()}) {
    for (const Preset& preset : *table) {
      CataloguePreset entry{std::string(preset.name), std::string(name_of(preset.run)), false, false, preset.points};
      for (const LockChoice& lock : preset.locks) {
        entry.locks = entry.locks || lock.kind != LockKind::none;
        entry.daemon = entry.daemon || lock.kind == LockKind::daemon;
      }
      catalogue.presets.push_back(std::move(entry));
    }
  }
  catalogue.finding_classes = {"hang",    "wedged", "two_owners", "orphan_write", "missing", "source_missing", "torn",   "poisoned",
                               "foreign", "loud",   "wrong_error", "herd",        "serialised", "starved",     "leak"};
  for (const std::string& name : *list_dir(root + "/kernels")) {
    if (name.ends_with(".cu")) catalogue.kernels.push_back(name.substr(0, name.size() - 3));
  }
  return catalogue;
}

Scenario file(const std::string& name) {
  ParsedScenario parsed = load_scenario(root + "/" + name, real_catalogue());
  EXPECT_THAT(parsed.errors, testing::IsEmpty());
  return parsed.scenario.value_or(Scenario{});
}

// "subject/fault" of the cells that cannot run, each once.
std::set<std::string> not_applicable(const Scenario& scenario) {
  std::set<std::string> out;
  for (const CellPlan& cell : cells_of(scenario, real_catalogue(), all)) {
    if (!cell.not_applicable.empty()) out.insert(cell.subject.name + "/" + cell.fault.name);
  }
  return out;
}

TEST(ScenarioFiles, AllParseAndExpandIntoDifferentCellsWithAPromiseEach) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".toml")) continue;
    ++files;
    const Scenario scenario = file(path.substr(root.size() + 1));
    EXPECT_FALSE(scenario.about.empty()) << path;
    const auto cells = cells_of(scenario, real_catalogue(), all);
    EXPECT_FALSE(cells.empty()) << path;
    std::set<std::string> ids;
    for (const CellPlan& cell : cells) {
      EXPECT_TRUE(ids.insert(cell.id).second) << path << ": " << cell.id << " is there twice";
      EXPECT_EQ(cell.skipped, "") << path << ": " << cell.id;
      if (!cell.not_applicable.empty()) continue;
      // The controls of the planted faults promise by saying nothing: whatever is found there is a failure. So it is with
      // what is swept.
      const bool control = path.find("/planted/") != std::string::npos || path.find("/subjects/") != std::string::npos;
      EXPECT_TRUE(control || !cell.expectation.empty()) << path << ": " << cell.id << " promises nothing";
      const Plan plan = plan_of(scenario, cell, 1);
      const auto again = Plan::parse(plan.text());
      ASSERT_TRUE(again) << again.error().message();
      EXPECT_EQ(again->text(), plan.text()) << cell.id;
    }
  }
  EXPECT_GE(files, 7);
}

TEST(ScenarioFiles, InTheReproductionsEverythingCanStrike) {
  for (const char* name : {"smoke.toml", "repro/msa-23.toml", "repro/gptqmodel-3015.toml", "repro/vllm-39057.toml",
                           "compare/herd.toml", "files/mount.toml"}) {
    EXPECT_THAT(not_applicable(file(name)), testing::IsEmpty()) << name;
  }
}

TEST(ScenarioFiles, TheComparisonLeavesOutWhatIsNotThereToBeHit) {
  const std::set<std::string> missing = not_applicable(file("compare/strategies.toml"));
  for (const char* torch : {"torch-baton", "torch-flock", "msa-flock", "gptqmodel-flock"}) {
    EXPECT_TRUE(missing.contains(std::string(torch) + "/kill-publish")) << torch << " builds in place";
    EXPECT_TRUE(missing.contains(std::string(torch) + "/kill-daemon")) << torch;
    EXPECT_FALSE(missing.contains(std::string(torch) + "/kill-compile")) << torch;
    EXPECT_FALSE(missing.contains(std::string(torch) + "/kill-lock-held")) << torch;
  }
  for (const char* unlocked : {"deepgemm", "deepgemm-dir"}) {
    EXPECT_TRUE(missing.contains(std::string(unlocked) + "/kill-lock-held")) << unlocked;
    EXPECT_TRUE(missing.contains(std::string(unlocked) + "/kill-waiter")) << unlocked;
    EXPECT_FALSE(missing.contains(std::string(unlocked) + "/kill-publish")) << unlocked;
  }
  EXPECT_FALSE(missing.contains("sound/kill-lock-held"));
  EXPECT_FALSE(missing.contains("sound/kill-publish"));
  EXPECT_FALSE(missing.contains("daemon/kill-daemon"));
  EXPECT_FALSE(missing.contains("daemon/kill-compiler"));
}

TEST(ScenarioFiles, NvrtcIsPromisedToMissNoSource) {
  const Scenario scenario = file("repro/vllm-39057.toml");
  int seen = 0;
  for (const CellPlan& cell : cells_of(scenario, real_catalogue(), all)) {
    const auto promises = words(cell.expectation);
    const bool always = std::count(promises.begin(), promises.end(), "always source_missing") > 0;
    EXPECT_FALSE(always && cell.toolchain == "nvrtc") << cell.id;
    seen += always ? 1 : 0;
  }
  EXPECT_EQ(seen, 2 * (2 + 1));  // two load APIs; two presets that are wiped, one with the gap
}

}  // namespace
}  // namespace jitrace
