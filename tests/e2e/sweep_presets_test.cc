// The built-in presets under system-call control: each as a program of its own, swept against what its scenario
// promises.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/swept_presets.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

constexpr const char* presets_scenario = JITRACE_SOURCE_DIR "/scenarios/subjects/presets.toml";

class SweepPreset : public E2eTest, public testing::WithParamInterface<const char*> {
 protected:
  Ran sweep(const std::string& file, const std::vector<std::string>& flags) const {
    // How many wake-ups without a change are asked for is not what this is about.
    std::vector<std::string> arguments{"sweep", file, "--polls", "50", "--out", out()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run(arguments);
  }
  Json matrix(const std::string& subject) const {
    return Json::parse(read_file(out() + "/" + subject + "/sweep.json").value());
  }
  void TearDown() override {
    expect_nothing_left();
    E2eTest::TearDown();
  }
};

TEST_P(SweepPreset, ShowsWhatIsPromised) {
  const Ran ran = sweep(presets_scenario, {"--strategy", GetParam(), "--cache", cache()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json found = matrix(GetParam());
  EXPECT_EQ(found["verdict"], "pass");
  EXPECT_EQ(found["unmet"], Json::array());
  EXPECT_EQ(found["summary"].value("inconclusive", 0), 0) << ran.out;
  EXPECT_GT(found["rows"].size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Presets, SweepPreset, presets_that_build(), name_of_preset);
INSTANTIATE_TEST_SUITE_P(Server, SweepPreset, testing::Values("daemon"), name_of_preset);

using SweepPresets = SweepPreset;

TEST_F(SweepPresets, TheBatonHangsFromItsCreationToItsRemovalInEveryColumnAndEveryTime) {
  const Ran ran = sweep(scenario("[workload]\ntoolchains = [\"fake\"]\n[[subject]]\npreset = \"torch-baton\"\n"), {});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json found = matrix("torch-baton");
  bool held = false;
  std::size_t hangs = 0;
  for (const Json& row : found["rows"]) {
    const std::string step = row["step"];
    if (step.find("open axpy/lock ") != std::string::npos && step.starts_with("after ")) held = true;
    if (step.find("unlink axpy/lock") != std::string::npos) held = false;
    for (const auto& [column, cell] : row["cells"].items()) {
      if (cell["end"] == "not_applicable") continue;
      EXPECT_EQ(cell["end"], held ? "hang" : "recovered") << step << " " << column;
      hangs += held ? 1 : 0;
    }
  }
  EXPECT_GT(hangs, 20u);
  EXPECT_NE(ran.out.find("polls for ever: stat axpy/lock"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("sweep: {libexec}/get torch-baton {cache}\n"), std::string::npos) << ran.out;
  EXPECT_EQ(found["unmet"].size(), hangs);
  const std::string replays = out() + "/torch-baton/replays/";
  const Ran again = run({"replay", replays + list_dir(replays).value().at(1), "--trials", "5", "--out", at("again")});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("hang 5 of 5"), std::string::npos) << again.out;
}

TEST_F(SweepPresets, AFindingThatIsPromisedOfASoundOneIsMissed) {
  const std::string file = scenario(
      "[workload]\ntoolchains = [\"fake\"]\n[[subject]]\npreset = \"deepgemm\"\n"
      "[[sweep]]\nafter = \"rename * cache/*/kernel.cubin\"\nends = [\"torn\"]\n");
  const Ran ran = sweep(file, {});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("expected torn, seen"), std::string::npos) << ran.out;
}

TEST_F(SweepPresets, WhatCannotBeSweptIsSaidInASentence) {
  const Ran mixed = sweep(scenario("[[subject]]\npresets = [\"torch-baton\", \"msa-flock\"]\n"), {});
  EXPECT_EQ(mixed.code, 64);
  const char* const says = "sweep torch-baton+msa-flock: it mixes presets, and a sweep is of one program";
  EXPECT_NE(mixed.err.find(says), std::string::npos) << mixed.err;
  EXPECT_EQ(line_count(mixed.err), 1) << mixed.err;
  const Ran library = sweep(presets_scenario, {"--strategy", "torch-baton", "--toolchain", "nvrtc"});
  EXPECT_EQ(library.code, 2) << library.out;
  const char* const why = "torch-baton is skipped: torch-baton builds with ninja, and nvrtc is a library";
  EXPECT_NE(library.err.find(why), std::string::npos) << library.err;
  EXPECT_FALSE(exists(out() + "/torch-baton"));
}

}  // namespace
}  // namespace jitrace::test
