// What a run writes: counts, fields and their types, every renderer, and the same again from the histories alone.

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

// All of it on one run of smoke: a run takes longer than the looks at it.
class Smoke : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    ran_ = run({"run", smoke, "--out", out(), "--cache", cache()});
    ASSERT_EQ(ran_.code, 0) << ran_.err << ran_.out;
    report_ = read_report(out());
  }

  std::string file(const std::string& name) const {
    const auto text = read_file(join(out(), name));
    EXPECT_TRUE(text) << text.error().message();
    return text ? *text : std::string();
  }

  Ran ran_;
  Json report_;
};

// name → what it has to be.
using Shape = std::vector<std::pair<const char*, bool (*)(const Json&)>>;

bool is_text(const Json& j) { return j.is_string(); }
bool is_number(const Json& j) { return j.is_number(); }
bool is_count(const Json& j) { return j.is_number_unsigned() || (j.is_number_integer() && j.get<std::int64_t>() >= 0); }
bool is_truth(const Json& j) { return j.is_boolean(); }
bool is_list(const Json& j) { return j.is_array(); }
bool is_object(const Json& j) { return j.is_object(); }
bool is_text_or_null(const Json& j) { return j.is_string() || j.is_null(); }
bool is_object_or_null(const Json& j) { return j.is_object() || j.is_null(); }
bool is_number_or_null(const Json& j) { return j.is_number() || j.is_null(); }
bool are_counts(const Json& j) {
  for (const Json& value : j) {
    if (!is_count(value)) return false;
  }
  return j.is_object();
}

void expect_shape(const Json& json, const Shape& shape, const std::string& where) {
  for (const auto& [name, holds] : shape) {
    if (!json.contains(name)) ADD_FAILURE() << where << "." << name << " is missing";
    else EXPECT_TRUE(holds(json[name])) << where << "." << name << " is " << json[name].dump();
  }
}

TEST_F(Smoke, HasEveryFieldWithItsType) {
  expect_shape(report_, {{"schema", is_count}, {"scenario", is_text}, {"verdict", is_text}, {"machine", is_object}, {"cells", is_list}},
               "report");
  ASSERT_EQ(report_["cells"].size(), 6u);
  for (const Json& cell : report_["cells"]) {
    const std::string id = cell["id"];
    expect_shape(cell,
                 {{"strategy", is_text}, {"run", is_text}, {"toolchain", is_text}, {"arch", is_text}, {"loader", is_text},
                  {"cache", is_object}, {"workers", is_count}, {"fault", is_object_or_null}, {"mode", is_text}, {"cause", is_text},
                  {"trials", is_count}, {"inconclusive", is_count}, {"skipped", is_object_or_null}, {"outcomes", are_counts},
                  {"findings", are_counts}, {"rates", is_object}, {"recovery_ms", is_object}, {"builds", is_object},
                  {"faults", is_object}, {"expected", is_list}, {"met", is_truth}, {"verdict", is_text}, {"replay", is_text_or_null}},
                 id);
    expect_shape(cell["cache"], {{"dir", is_text}, {"fs", is_text}, {"options", is_text}, {"clients", is_count}, {"rename", is_text}},
                 id + ".cache");
    EXPECT_EQ(cell["cache"]["dir"], cache());
    EXPECT_NE(cell["cache"]["fs"], "");
    if (cell["fault"].is_object()) {
      expect_shape(cell["fault"], {{"who", is_text}, {"point", is_text}, {"kind", is_text}, {"occurrence", is_count}, {"order", is_text_or_null}},
                   id + ".fault");
    }
    for (const char* name : {"handoff", "first_served", "all_served"}) {
      expect_shape(cell["recovery_ms"][name],
                   {{"n", is_count}, {"unrecovered", is_count}, {"p50", is_number_or_null}, {"p95", is_number_or_null}, {"max", is_number_or_null}},
                   id + "." + name);
    }
    expect_shape(cell["builds"], {{"total", is_count}, {"per_key", are_counts}}, id + ".builds");
    expect_shape(cell["faults"], {{"planned", is_count}, {"fired", is_count}}, id + ".faults");
    expect_shape(cell, {{"start_skew_ms", is_number}}, id);
  }
  for (const char* name : {"kernel", "driver", "gpus"}) EXPECT_TRUE(report_["machine"].contains(name)) << name;
}

TEST_F(Smoke, CountsWhatHappened) {
  EXPECT_EQ(report_["verdict"], "pass");
  for (const char* preset : {"torch-baton", "torch-flock", "sound"}) {
    const Json control = cell_of(report_, std::string(preset) + "/none/");
    EXPECT_EQ(control["trials"], 3);
    EXPECT_EQ(control["fault"], nullptr);
    EXPECT_EQ(control["builds"]["total"], 3) << preset;  // one a trial, whoever else came
    EXPECT_EQ(control["builds"]["per_key"], Json({{"axpy", 1}})) << preset;
    EXPECT_EQ(control["outcomes"], Json({{"built", 3}, {"served", 21}})) << preset;  // 4 workers, 2 rounds, 3 trials
    EXPECT_EQ(control["findings"], Json::object()) << preset;
    EXPECT_EQ(control["faults"], Json({{"planned", 0}, {"fired", 0}}));
    EXPECT_EQ(control["met"], true);
    EXPECT_EQ(control["replay"], nullptr);
  }
  const Json baton = cell_of(report_, "torch-baton/kill-compile/");
  EXPECT_EQ(baton["findings"]["hang"], 3);
  EXPECT_EQ(baton["findings"]["wedged"], 3);
  EXPECT_EQ(baton["outcomes"], Json({{"hung", 21}, {"killed_by_plan", 3}}));
  EXPECT_EQ(baton["faults"], Json({{"planned", 3}, {"fired", 3}}));
  EXPECT_EQ(baton["recovery_ms"]["all_served"]["unrecovered"], 3);
  EXPECT_EQ(baton["recovery_ms"]["all_served"]["n"], 0);
  EXPECT_EQ(baton["recovery_ms"]["all_served"]["p50"], nullptr);
  for (const char* preset : {"torch-flock", "sound"}) {
    const Json cell = cell_of(report_, std::string(preset) + "/kill-compile/");
    EXPECT_EQ(cell["fault"]["who"], "builder");
    EXPECT_EQ(cell["fault"]["point"], "compile");
    EXPECT_EQ(cell["fault"]["order"], "orphan-first");
    EXPECT_EQ(cell["findings"], Json::object()) << preset;
    EXPECT_EQ(cell["outcomes"], Json({{"built", 3}, {"killed_by_plan", 3}, {"served", 18}})) << preset;
    EXPECT_EQ(cell["recovered"], 3);
    EXPECT_EQ(cell["faults"], Json({{"planned", 3}, {"fired", 3}}));
    for (const char* name : {"handoff", "first_served", "all_served"}) {
      const Json& times = cell["recovery_ms"][name];
      EXPECT_EQ(times["n"], 3) << preset << " " << name;
      EXPECT_EQ(times["unrecovered"], 0);
      EXPECT_GT(times["p50"].get<double>(), 0);
      EXPECT_LE(times["p50"].get<double>(), times["max"].get<double>());
    }
    EXPECT_LE(cell["recovery_ms"]["handoff"]["max"].get<double>(), cell["recovery_ms"]["all_served"]["max"].get<double>());
  }
}

TEST_F(Smoke, EveryRendererWroteItsFile) {
  const std::string junit = file("junit.xml");
  EXPECT_NE(junit.find("tests=\"6\" failures=\"0\" errors=\"0\""), std::string::npos) << junit;
  const std::string summary = file("summary.md");
  EXPECT_NE(summary.find("torch-baton"), std::string::npos);
  EXPECT_LT(summary.size(), std::size_t{1} << 20);
  EXPECT_LE(split(file("annotations.txt"), '\n').size(), 10u);
  EXPECT_EQ(file("report.txt"), ran_.out);
  EXPECT_EQ(lines_of(wide_lines(ran_.out, 80)), "");
  EXPECT_EQ(ran_.out.find('\x1b'), std::string::npos) << "colours, and no terminal";
  EXPECT_NE(ran_.out.find("jitrace replay"), std::string::npos) << ran_.out;
}

TEST_F(Smoke, JunitHoldsAgainstTheSchema) {
  Command command;
  command.argv = {"xmllint", "--noout", "--schema", JITRACE_SOURCE_DIR "/tests/golden/junit.xsd", out() + "/junit.xml"};
  const auto finished = run_to_end(command);
  if (!finished) GTEST_SKIP() << "no xmllint here";
  EXPECT_TRUE(finished->status.is_exit(0)) << finished->output;
}

TEST_F(Smoke, ReportRendersTheSameAgain) {
  const std::vector<std::string> names = {"report.json", "junit.xml", "summary.md", "annotations.txt", "report.txt"};
  std::map<std::string, std::string> before;
  for (const std::string& name : names) {
    before[name] = file(name);
    ASSERT_TRUE(remove_file(join(out(), name)));
  }
  // However the directory is named.
  for (const std::string& path : {out(), std::string("../out/")}) {
    const Ran again = run({"report", path});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, ran_.out);
    for (const std::string& name : names) EXPECT_EQ(file(name), before[name]) << name;
  }
}

TEST_F(Smoke, AHistoryThatCannotBeReadIsLeftOutAndNamed) {
  const std::string history = out() + "/cells/sound+none+fake+sm_90a/trial-2.history";
  const auto text = read_file(history);
  ASSERT_TRUE(text);
  ASSERT_TRUE(write_file(history, text->substr(0, text->size() / 2)));
  const Ran again = run({"report", out()});
  EXPECT_NE(again.code, 70) << again.err;
  if (again.err.empty()) return;  // cut between two lines it is a history still
  EXPECT_NE(again.err.find(history), std::string::npos) << again.err;
  EXPECT_EQ(again.code, 2) << "what could not be read may have been the one that failed";
  EXPECT_EQ(cell_of(read_report(out()), "sound/none/")["trials"], 2);
}

TEST_F(Smoke, ARunFileThatLacksAnItemIsNamedAndNoCrash) {
  std::string text = file("run");
  const std::size_t at = text.find("toolchain kind=");
  ASSERT_NE(at, std::string::npos);
  ASSERT_TRUE(write_file(join(out(), "run"), text.replace(at, 15, "toolchain kin=")));
  const Ran again = run({"report", out()});
  EXPECT_EQ(again.code, 69) << again.err;
  EXPECT_NE(again.err.find("\"kind\" is missing"), std::string::npos) << again.err;
}

TEST_F(Smoke, ReplayShowsTheFindingAgain) {
  const std::string command = cell_of(report_, "torch-baton/kill-compile/")["replay"];
  ASSERT_TRUE(command.starts_with("jitrace replay ")) << command;
  const std::string plan = command.substr(std::string("jitrace replay ").size());
  const Ran ran = run({"replay", plan, "--trials", "3", "--out", at("again"), "--cache", cache()});
  EXPECT_EQ(ran.code, 1) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("hang 3 of 3"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("wedged 3 of 3"), std::string::npos) << ran.out;
  // A history replays as well; this one found nothing.
  const Ran clean = run({"replay", out() + "/cells/sound+none+fake+sm_90a/trial-1.history", "--trials", "2"});
  EXPECT_EQ(clean.code, 0) << clean.err << clean.out;
  EXPECT_NE(clean.out.find("nothing found 2 of 2"), std::string::npos) << clean.out;
}

TEST_F(Smoke, HoldsNothingButItsResults) {
  for (const std::string& name : list_tree(out())) {
    const bool known = name.starts_with("cells/") || name == "run" || name == "scenario.toml" || name == "report.json" ||
                       name == "junit.xml" || name == "summary.md" || name == "annotations.txt" || name == "report.txt";
    EXPECT_TRUE(known) << name;
  }
  // The cache of the first trial of the cell that found something, for the one who looks for why.
  EXPECT_TRUE(exists(out() + "/cells/torch-baton+kill-compile+fake+sm_90a/trial-1.cache"));
  EXPECT_FALSE(exists(out() + "/cells/sound+none+fake+sm_90a/trial-1.cache"));
}

class Report : public E2eTest {};

TEST_F(Report, KeepKeepsEveryCache) {
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out(), "--trials", "2", "--keep", "--cache", cache()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  for (const char* name : {"trial-1.cache", "trial-2.cache"}) {
    EXPECT_FALSE(list_tree(out() + "/cells/torch-flock+none+fake+sm_90a/" + name).empty()) << name;
  }
}

TEST_F(Report, WithoutOutARunGetsADirectoryOfItsOwn) {
  const std::string path = scenario(quick_scenario());
  EXPECT_EQ(run({"run", path}).code, 0);
  EXPECT_EQ(run({"run", path}).code, 0);
  EXPECT_TRUE(exists(at("work/jitrace-runs/quick-1/report.json")));
  EXPECT_TRUE(exists(at("work/jitrace-runs/quick-2/report.json")));
}

TEST_F(Report, FlagsOverrideTheScenario) {
  const Ran ran = run({"run", smoke, "--out", out(), "--strategy", "sound", "--workers", "3", "--trials", "1", "--jobs", "2", "--seed", "9"});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  const Json report = read_report(out());
  EXPECT_EQ(report["seed"], 9);
  ASSERT_EQ(report["cells"].size(), 2u);
  for (const Json& cell : report["cells"]) {
    EXPECT_EQ(cell["strategy"], "sound");
    EXPECT_EQ(cell["workers"], 3);
    EXPECT_EQ(cell["trials"], 1);
  }
}

TEST_F(Report, ATimeBudgetEndsARunAndKeepsWhatItHas) {
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out(), "--trials", "100000", "--time-budget", "1s"});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  const int trials = read_report(out())["cells"][0]["trials"];
  EXPECT_GE(trials, 1);
  EXPECT_LT(trials, 1000);
}

TEST_F(Report, CellsWhoseNamesLookAlikeKeepTheirOwnHistories) {
  const auto subject = [](const std::string& name) { return "[[subject]]\nname = \"" + name + "\"\npreset = \"torch-flock\"\n"; };
  const auto fault = [](const std::string& name, const std::string& of) {
    return "[[fault]]\nname = \"" + name + "\"\nsubjects = [\"" + of + "\"]\n";
  };
  const std::string text = "[workload]\ntoolchains = [\"fake\"]\nworkers = 2\ntrials = 1\nfake_ms = 1\n" + subject("a") + subject("a_b") +
                           subject("\u00e9") + subject("\u00e8") + fault("b_c", "a") + fault("c", "a_b") + fault("x", "\u00e9") +
                           fault("x2", "\u00e8") + "[[expect]]\nrecovered = true\n";
  const Ran ran = run({"run", put("work/no_name.toml", text), "--out", out() + "/"});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_EQ(list_dir(out() + "/cells")->size(), 4u);
  const auto before = read_file(out() + "/report.json");
  const Ran again = run({"report", out()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, ran.out) << "the scenario is called by its first file's name, the run by what lies there";
  EXPECT_EQ(*read_file(out() + "/report.json"), *before);
}

TEST_F(Report, ACellWithALongNameHasADirectory) {
  std::string name(80, 'x');
  const Ran ran = run({"run", scenario("[workload]\ntoolchains = [\"fake\"]\nworkers = 2\ntrials = 1\nfake_ms = 1\n[[subject]]\nname = \"" + name +
                                       "\"\npreset = \"torch-flock\"\n[[fault]]\nname = \"" + std::string(80, '\'') + "\"\n"),
                       "--out", out()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_EQ(run({"report", out()}).code, 0);
}

TEST_F(Report, AFindingBehindInconclusiveTrialsHasItsReplay) {
  // The run that measures takes two seconds, so that kills come within two: after the end of all others. From the fifth on
  // it says what is a finding. Trials go side by side: each adds a line, as a number read and written back would be lost.
  const std::string count = at("work/count");
  const std::string loader = put("work/loader.sh", "#!/bin/sh\necho >> " + count + "\nn=$(wc -l < " + count +
                                                   ")\n[ $n -gt 1 ] || sleep 2\n[ $n -lt 5 ] || { echo 'file too short'; exit 1; }\n", 0755);
  const Ran ran = run({"run", scenario("[workload]\nworkers = 1\ntrials = 8\n[[subject]]\nname = \"mine\"\ncommand = [\"" + loader +
                                       "\", \"{cache}\"]\n[[fault]]\nname = \"kill\"\nwho = \"worker 1\"\nat = \"random\"\nwhat = \"SIGKILL\"\n"),
                       "--out", out()});
  const Json cell = read_report(out())["cells"][0];
  ASSERT_FALSE(cell["findings"].empty()) << cell.dump(1);
  ASSERT_TRUE(cell["replay"].is_string()) << cell.dump(1);
  EXPECT_NE(ran.out.find("jitrace replay"), std::string::npos) << ran.out;
}

TEST_F(Report, SkippedCellsRenderTheSameAgain) {
  const Ran ran = run({"run", smoke, "--out", out(), "--toolchain", "nvcc", "--nvcc", at("nowhere/nvcc")});
  const auto before = read_file(out() + "/report.json");
  const Ran again = run({"report", out()});
  EXPECT_EQ(again.code, ran.code);
  EXPECT_EQ(again.out, ran.out);
  EXPECT_EQ(*read_file(out() + "/report.json"), *before);
}

}  // namespace
}  // namespace jitrace::test
