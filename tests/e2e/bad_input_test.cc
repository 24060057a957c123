// What a user can type or write wrong: exit 64, all of it told at once, nothing made.

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"

namespace jitrace::test {
namespace {

class BadInput : public E2eTest {
 protected:
  // Runs it, and holds that nothing was made.
  Ran refused(std::vector<std::string> arguments) {
    const auto before = list_tree(at("work"));
    const Ran ran = run(std::move(arguments));
    EXPECT_EQ(ran.code, 64) << ran.err << ran.out;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(list_tree(at("work")), before);
    return ran;
  }
};

TEST_F(BadInput, UnknownFlag) {
  EXPECT_NE(refused({"run", smoke, "--bogus"}).err.find("--bogus"), std::string::npos);
}

TEST_F(BadInput, UnknownCommandNamesTheNearest) {
  const Ran ran = refused({"rum", smoke});
  EXPECT_NE(ran.err.find("\"rum\""), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("\"run\""), std::string::npos) << ran.err;
}

TEST_F(BadInput, NoCommand) { EXPECT_NE(refused({}).err, ""); }
TEST_F(BadInput, NoScenario) { EXPECT_NE(refused({"run"}).err.find("scenario"), std::string::npos); }

TEST_F(BadInput, NumbersOutOfRange) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--workers", "0"}, {"--trials", "-1"}, {"--seed", "-1"}, {"--seed", "99999999999999999999"}, {"--cache", ""}, {"--trials", "many"}, {"--jobs", "1000"}, {"--time-budget", "soon"},
           {"--time-budget", "99999999999999h"}}) {
    std::vector<std::string> arguments = {"run", smoke};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_NE(refused(arguments).err.find(flags.front()), std::string::npos) << flags.front() << " " << flags.back();
  }
}

TEST_F(BadInput, NamesThatNobodyKnows) {
  EXPECT_NE(refused({"run", smoke, "--toolchain", "rustc"}).err.find("\"rustc\""), std::string::npos);
  EXPECT_NE(refused({"run", smoke, "--strategy", "torch-batom"}).err.find("\"torch-batom\""), std::string::npos);
  EXPECT_NE(refused({"run", smoke, "--loader", "lodr"}).err.find("\"lodr\""), std::string::npos);
}

TEST_F(BadInput, AKernelThatIsNowhereNamesTheNearest) {
  for (const char* command : {"run", "sweep"}) {
    const std::string path = scenario("[workload]\nkernels = [\"axpi\"]\ntoolchains = [\"fake\"]\n[[subject]]\npreset = \"sound\"\n");
    EXPECT_NE(refused({command, path}).err.find(path + ":2:12: unknown kernel \"axpi\"; did you mean \"axpy\"?"), std::string::npos)
        << run({command, path}).err;
  }
}

TEST_F(BadInput, MissingScenario) {
  const Ran ran = refused({"run", at("work/nowhere.toml")});
  EXPECT_NE(ran.err.find(at("work/nowhere.toml")), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("No such file"), std::string::npos) << ran.err;
  EXPECT_EQ(line_count(ran.err), 1);
}

TEST_F(BadInput, AScenarioThatIsADirectory) { EXPECT_NE(refused({"run", at("work")}).err.find(at("work")), std::string::npos); }

TEST_F(BadInput, NoToml) {
  const std::string path = scenario("[scenario\nname = \"x\"\n");
  EXPECT_NE(refused({"run", path}).err.find(path + ":1:"), std::string::npos);
}

TEST_F(BadInput, AllErrorsOfAFileAtOnce) {
  const std::string path = scenario(
      "[scenario]\nname = \"bad\"\n"
      "[workload]\n"
      "worker = 4\n"            // 4:1
      "trials = \"many\"\n"     // 5:10
      "[[subject]]\n"
      "preset = \"torch-batom\"\n"  // 7:10
      "[[fault]]\nname = \"k\"\nwho = \"builder\"\n"
      "at = \"compyle\"\n"      // 11:6
      "what = \"SIGKIL\"\n"     // 12:8
      "[[expect]]\n"
      "never = [\"hangs\"]\n");  // 14:10
  const Ran ran = refused({"run", path});
  for (const std::string& said :
       {path + ":4:1: unknown key \"worker\"; did you mean \"workers\"?", path + ":5:10: ", path + ":7:10: ", path + ":11:6: ",
        path + ":12:8: ", path + ":14:10: "}) {
    EXPECT_NE(ran.err.find(said), std::string::npos) << said << "\n" << ran.err;
  }
  for (const char* meant : {"\"torch-baton\"?", "\"compile\"?", "\"SIGKILL\"?", "\"hang\"?"}) {
    EXPECT_NE(ran.err.find(meant), std::string::npos) << meant << "\n" << ran.err;
  }
  EXPECT_EQ(line_count(ran.err), 6) << ran.err;
}

TEST_F(BadInput, ReplayOfWhatIsNoPlan) {
  EXPECT_NE(refused({"replay", at("work/nowhere.plan")}).err.find(at("work/nowhere.plan")), std::string::npos);
  const std::string text = put("work/some.plan", "hello\n");
  EXPECT_NE(refused({"replay", text}).err.find(text), std::string::npos);
  const std::string future = put("work/future.plan", "jitrace plan 999\nscenario x\n");
  EXPECT_NE(refused({"replay", future}).err.find("999"), std::string::npos);
}

TEST_F(BadInput, ReportOfWhatIsNoRun) {
  EXPECT_NE(refused({"report", at("home")}).err.find(at("home")), std::string::npos);
  EXPECT_NE(refused({"report", at("nowhere")}).err.find(at("nowhere")), std::string::npos);
}

}  // namespace
}  // namespace jitrace::test
