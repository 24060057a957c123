#include "unit/scenario/catalogue.h"

namespace jitrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Parse, ASubjectIsEnoughAndTheRestIsDefault) {
  const Scenario scenario = good(minimal);
  EXPECT_EQ(scenario.name, "x");
  EXPECT_THAT(scenario.workload.kernels, ElementsAre("axpy"));
  EXPECT_THAT(scenario.workload.workers, ElementsAre(8));
  EXPECT_EQ(scenario.workload.trials, 20);
  EXPECT_EQ(scenario.workload.watchdog, seconds(120));
  ASSERT_THAT(scenario.subjects, SizeIs(1));
  EXPECT_EQ(scenario.subjects[0].name, "torch-baton");
  ASSERT_THAT(scenario.faults, SizeIs(1));
  EXPECT_EQ(scenario.faults[0].name, "none");
  EXPECT_THAT(scenario.faults[0].steps, IsEmpty());
}

TEST(Parse, TheDefaultsAreThemselvesWithoutAnError) {
  // Only a subject is missing from them.
  const ParsedScenario parsed = parse_scenario(std::string(default_scenario()) + minimal, "defaults.toml", small_catalogue());
  EXPECT_THAT(parsed.errors, IsEmpty());
}

TEST(Parse, TheDefaultsShowEveryKeyOfTheDefaultValues) {
  // A key that the code knows and the reference file does not name would be one that nobody can find.
  for (const char* key : {"kernels", "archs", "toolchains", "each_toolchain", "loader", "load_apis", "device", "mode",
                          "workers", "keys", "rounds", "gets", "trials", "seed", "fake_ms", "bound_scale", "watchdog_s",
                          "dirs", "clients", "rename", "preset", "presets", "command", "name", "about", "who", "at", "what",
                          "occurrence", "waiters", "order", "until", "path", "also", "before", "subjects", "subject", "fault",
                          "always", "sometimes", "never", "recovered", "fell_back", "builds", "handoff_ms_max", "after", "role", "columns", "ends"}) {
    EXPECT_NE(default_scenario().find(std::string(key) + " = "), std::string_view::npos) << key;
  }
}

TEST(Parse, AFaultWithAllItsParts) {
  const Scenario scenario = good(minimal + R"(
[[fault]]
name = "kill"
who = "builder 2"
at = "compile"
what = "SIGTERM"
occurrence = 3
waiters = 2
order = "orphan-held"
workers = 3
rename = "nfs-busy"
clients = 2
also = [{ who = "worker 1", at = "load", what = "stop", until = "unlock" }]
before = [{ put = "{lock}", content = "x" }, { cut = "{artifact}" }]
subjects = ["torch-baton"]
)");
  ASSERT_THAT(scenario.faults, SizeIs(1));
  const FaultEntry& fault = scenario.faults[0];
  ASSERT_THAT(fault.steps, SizeIs(2));
  EXPECT_EQ(fault.steps[0].who, Victim::builder);
  EXPECT_EQ(fault.steps[0].index, 2);
  EXPECT_EQ(fault.steps[0].at, Point::compile);
  EXPECT_EQ(fault.steps[0].what.kind, FaultKind::kill);
  EXPECT_EQ(fault.steps[0].what.signal, 15);
  EXPECT_EQ(fault.steps[0].occurrence, 3);
  EXPECT_EQ(fault.steps[0].waiters, 2);
  EXPECT_EQ(fault.steps[0].order, OrphanOrder::held);
  EXPECT_EQ(fault.steps[1].what.kind, FaultKind::stop);
  EXPECT_EQ(fault.steps[1].until, Point::unlock);
  ASSERT_THAT(fault.before, SizeIs(2));
  EXPECT_EQ(fault.before[0].action, "put");
  EXPECT_EQ(fault.before[0].content, "x");
  EXPECT_EQ(fault.before[1].path, "{artifact}");
  EXPECT_EQ(fault.clients, 2);
  EXPECT_EQ(fault.rename, "nfs-busy");
}

TEST(Parse, WhoeverChangesTheCacheIsAnotherProcess) {
  const Scenario scenario = good(minimal + "[[fault]]\nname = \"w\"\nat = \"compile\"\nwhat = \"wipe\"\n");
  EXPECT_EQ(scenario.faults[0].steps[0].who, Victim::other);
}

TEST(Parse, SubjectsOfEveryForm) {
  const Scenario scenario = good(R"(
[[subject]]
presets = ["torch-flock", "torch-baton"]
[[subject]]
name = "clearing"
workers = [{ preset = "torch-baton", action = "clear" }, { preset = "torch-flock", count = 2, client = 1 }]
[[subject]]
command = ["python3", "my_loader.py", "{cache}"]
)");
  ASSERT_THAT(scenario.subjects, SizeIs(3));
  EXPECT_EQ(scenario.subjects[0].name, "torch-flock+torch-baton");
  EXPECT_EQ(scenario.subjects[1].name, "clearing");
  EXPECT_TRUE(scenario.subjects[1].fixed_size);
  ASSERT_THAT(scenario.subjects[1].workers, SizeIs(3));
  EXPECT_EQ(scenario.subjects[1].workers[0].action, "clear");
  EXPECT_EQ(scenario.subjects[1].workers[2].client, 1);
  EXPECT_EQ(scenario.subjects[2].name, "command");
  EXPECT_THAT(scenario.subjects[2].command, SizeIs(3));
}

TEST(Parse, Expectations) {
  const Scenario scenario = good(minimal + R"(
[[expect]]
subject = "*"
always = ["hang", "wedged"]
never = "missing"
recovered = false
builds = { min = 1, max = 8 }
warnings = 1
handoff_ms_max = 50
)");
  ASSERT_THAT(scenario.expects, SizeIs(1));
  EXPECT_THAT(scenario.expects[0].subjects, IsEmpty());
  EXPECT_THAT(words(scenario.expects[0].expectation),
              ElementsAre("always hang", "always wedged", "never missing", "not recovered", "builds >= 1", "builds <= 8",
                          "warnings = 1", "handoff <= 50 ms"));
}

// Each row: a text and the errors it gives, all of them, in the order of the file.
struct Wrong {
  const char* name;
  std::string text;
  std::vector<std::string> errors;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class ParseErrors : public testing::TestWithParam<Wrong> {};

TEST_P(ParseErrors, SayWhereAndWhat) {
  const ParsedScenario parsed = parse_text(GetParam().text);
  EXPECT_FALSE(parsed.scenario);
  std::vector<testing::Matcher<std::string>> wanted;
  for (const std::string& error : GetParam().errors) wanted.emplace_back(HasSubstr(error));
  EXPECT_THAT(parsed.errors, testing::ElementsAreArray(wanted));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseErrors,
    testing::Values(
        Wrong{"unknown_key", minimal + "[[fault]]\nnam = \"x\"\n", {"scenarios/x.toml:4:1: unknown key \"nam\"; did you mean \"name\"?"}},
        Wrong{"unknown_section", minimal + "[chache]\n", {"x.toml:3:2: unknown key \"chache\"; did you mean \"cache\"?"}},
        Wrong{"all_at_once",
              "[workload]\nworkers = \"8\"\ntrails = 3\nrounds = 0\n\n[[subject]]\npreset = \"torch-batton\"\n",
              {"x.toml:2:11: \"workers\" is a string, not an integer or a list of integers",
               "x.toml:3:1: unknown key \"trails\"; did you mean \"trials\"?", "x.toml:4:10: \"rounds\" is 0, not within 1 to 1000",
               "x.toml:7:10: unknown preset \"torch-batton\"; did you mean \"torch-baton\"?"}},
        Wrong{"syntax", "[workload\nworkers = 8\n", {"scenarios/x.toml:1:10: "}},
        Wrong{"section_is_no_table", "workload = 3\n" + minimal, {"x.toml:1:12: \"workload\" is an integer, not a table"}},
        Wrong{"subject_is_no_list", "subject = 3\n", {"there is no [[subject]]", "\"subject\" is an integer, not a list of tables"}},
        Wrong{"list_of_no_tables", "subject = [3]\n", {"there is no [[subject]]", "x.toml:1:12: \"subject\" holds an integer, not only tables"}},
        Wrong{"no_subject", "[workload]\n", {"scenarios/x.toml: there is no [[subject]]"}},
        Wrong{"two_forms", "[[subject]]\npreset = \"deepgemm\"\ncommand = [\"x\"]\n", {"this one has several"}},
        Wrong{"same_subject", minimal + minimal, {"a subject \"torch-baton\" was there before"}},
        Wrong{"bad_point", minimal + "[[fault]]\nname = \"k\"\nat = \"compil\"\nwhat = \"SIGKILL\"\n",
              {"x.toml:5:6: unknown point \"compil\"; did you mean \"compile\"?"}},
        Wrong{"bad_signal", minimal + "[[fault]]\nname = \"k\"\nat = \"compile\"\nwhat = \"SIGKIL\"\n",
              {"x.toml:6:8: unknown fault \"SIGKIL\"; did you mean \"SIGKILL\"?"}},
        Wrong{"bad_victim", minimal + "[[fault]]\nname = \"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\nwho = \"bilder 2\"\n",
              {"x.toml:7:7: unknown victim \"bilder\"; did you mean \"builder\"?"}},
        Wrong{"bad_index", minimal + "[[fault]]\nname = \"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\nwho = \"builder 0\"\n",
              {"\"builder 0\" does not read \"builder 2\""}},
        Wrong{"no_point", minimal + "[[fault]]\nname = \"k\"\nwhat = \"SIGKILL\"\n", {"a fault needs \"at\""}},
        Wrong{"no_what", minimal + "[[fault]]\nname = \"k\"\nwho = \"builder\"\nat = \"compile\"\n",
              {"\"who\" without \"what\"", "\"at\" without \"what\""}},
        Wrong{"no_name", minimal + "[[fault]]\nat = \"compile\"\nwhat = \"SIGKILL\"\n", {"x.toml:3:1: a fault needs a name"}},
        Wrong{"until_of_a_kill", minimal + "[[fault]]\nname=\"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\nuntil = \"load\"\n",
              {"\"until\" is for a stop, and this is \"SIGKILL\""}},
        Wrong{"order_of_a_wipe", minimal + "[[fault]]\nname=\"k\"\nat = \"compile\"\nwhat = \"wipe\"\norder = \"orphan-held\"\n",
              {"\"order\" is for the kill of a builder"}},
        Wrong{"free_with_a_point", minimal + "[[fault]]\nname=\"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\nmode = \"free\"\n",
              {"a fault at a point needs the gated mode"}},
        Wrong{"free_workload_with_a_point", "[workload]\nmode = \"free\"\n" + minimal + "[[fault]]\nname=\"k\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n",
              {"x.toml:5:1: a fault at a point needs the gated mode"}},
        Wrong{"random_stop", minimal + "[[fault]]\nname=\"k\"\nwho = \"worker 1\"\nat = \"random\"\nwhat = \"stop\"\n",
              {"x.toml:6:6: \"at\" is for the kill of a worker or its tree if it is \"random\", and this is \"stop\""}},
        Wrong{"random_exit", minimal + "[[fault]]\nname=\"k\"\nwho = \"worker 1\"\nat = \"random\"\nwhat = \"exit 137\"\n", {"if it is \"random\""}},
        Wrong{"random_cut", minimal + "[[fault]]\nname=\"k\"\nat = \"random\"\nwhat = \"cut\"\n", {"if it is \"random\""}},
        Wrong{"random_builder", minimal + "[[fault]]\nname=\"k\"\nat = \"random\"\nwhat = \"SIGKILL\"\n", {"if it is \"random\""}},
        Wrong{"no_such_worker", "[workload]\nworkers = [2, 3]\n" + minimal + "[[fault]]\nname=\"k\"\nwho = \"worker 4\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n",
              {"x.toml:5:1: there is no worker 4: they are 3"}},
        Wrong{"waiters_that_are_not_there", "[workload]\nworkers = 3\n" + minimal + "[[fault]]\nname=\"k\"\nat = \"compile\"\nwaiters = 3\nwhat = \"SIGKILL\"\n",
              {"x.toml:5:1: 3 others cannot wait: there are 3 workers"}},
        Wrong{"workers_twice", "[workload]\nworkers = [2, 3, 2]\n" + minimal, {"x.toml:2:18: 2 stands here twice"}},
        Wrong{"arch_twice", "[workload]\narchs = [\"sm_90a\", \"sm_90a\"]\n" + minimal, {"x.toml:2:20: arch \"sm_90a\" stands here twice"}},
        Wrong{"a_directory_without_a_name", "[cache]\ndirs = [\"\"]\n" + minimal, {"x.toml:2:9: a directory needs a name"}},
        Wrong{"control_characters", minimal + "\"k\\u001b[31m\\nx\" = 1\n", {"x.toml:3:1: unknown key \"k\\x1b[31m\\x0ax\""}},
        Wrong{"empty_expect_beside_another_error", "[workload]\nrounds = 0\n" + minimal + "[[expect]]\n",
              {"\"rounds\" is 0", "an expectation that promises nothing"}},
        Wrong{"same_fault", minimal + "[[fault]]\nname = \"a\"\n[[fault]]\nname = \"a\"\n", {"x.toml:6:8: a fault \"a\" was there before"}},
        Wrong{"fault_of_nobody", minimal + "[[fault]]\nname = \"a\"\nsubjects = [\"torch-flock\"]\n",
              {"x.toml:5:13: unknown subject \"torch-flock\""}},
        Wrong{"before_without_action", minimal + "[[fault]]\nname = \"a\"\nbefore = [{ content = \"x\" }]\n",
              {"is one of put, entry, cut", "\"content\" is for put and replace"}},
        Wrong{"out_of_the_cache", minimal + "[[fault]]\nname = \"a\"\nbefore = [{ remove = \"../..\" }]\n", {"leads out of the cache"}},
        Wrong{"expect_of_nobody", minimal + "[[expect]]\nsubject = \"torch-batn\"\nrecovered = true\n",
              {"x.toml:4:11: unknown subject \"torch-batn\"; did you mean \"torch-baton\"?"}},
        Wrong{"expect_without_fault", minimal + "[[expect]]\nfault = \"kill\"\nrecovered = true\n", {"unknown fault \"kill\""}},
        Wrong{"expect_no_cell",
              minimal + "[[subject]]\npreset=\"deepgemm\"\n[[fault]]\nname=\"a\"\nsubjects=\"deepgemm\"\n"
                        "[[expect]]\nsubject=\"torch-baton\"\nfault=\"a\"\nrecovered=true\n",
              {"x.toml:8:1: this expectation matches no cell"}},
        Wrong{"expect_other_toolchain", minimal + "[[expect]]\ntoolchain=\"fake\"\nrecovered=true\n", {"matches no cell"}},
        Wrong{"bad_class", minimal + "[[expect]]\nalways = [\"hung\"]\n", {"unknown finding class \"hung\"; did you mean \"hang\"?"}},
        Wrong{"class_twice", minimal + "[[expect]]\nalways = [\"hang\"]\nnever = [\"hang\"]\n", {"\"hang\" stands in \"always\" already"}},
        Wrong{"empty_expect", minimal + "[[expect]]\n", {"an expectation that promises nothing"}},
        Wrong{"empty_bounds", minimal + "[[expect]]\nbuilds = { min = 3, max = 2 }\n", {"\"builds\" is at least 3 and at most 2"}},
        Wrong{"negative", minimal + "[[expect]]\nbuilds = -1\n", {"\"builds\" is -1, not within 0"}},
        Wrong{"nan", "[workload]\nbound_scale = nan\n" + minimal, {"\"bound_scale\" is nan"}},
        Wrong{"more_keys_than_kernels", "[workload]\nkeys = 3\n" + minimal, {"3 keys need as many kernels, and there are 1"}},
        Wrong{"kernel_is_a_path", "[workload]\nkernels = [\"../x\"]\n" + minimal, {"x.toml:2:12: a name is"}},
        Wrong{"no_arch", "[workload]\narchs = [\"90\"]\n" + minimal, {"\"90\" is no arch"}},
        Wrong{"no_toolchain", "[workload]\ntoolchains = []\n" + minimal, {"\"toolchains\" names nothing"}},
        Wrong{"dirs_and_clients", "[cache]\ndirs = [\"a\", \"b\"]\nclients = 3\n" + minimal, {"2 directories for 3 clients"}}),
    [](const auto& row) { return row.param.name; });

TEST(Parse, AMissingFileIsOneError) {
  const ParsedScenario parsed = load_scenario("/nowhere/x.toml", small_catalogue());
  EXPECT_THAT(parsed.errors, ElementsAre(HasSubstr("/nowhere/x.toml: No such file or directory")));
}

}  // namespace
}  // namespace jitrace
