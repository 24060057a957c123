// record, sweep and the replay of what a sweep found, on programs as a user has them.

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "e2e/fixture.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

constexpr const char* builder = JITRACE_BINARY_DIR "/tests/programs/static_builder";
constexpr const char* subjects = JITRACE_SOURCE_DIR "/scenarios/subjects/";

class Traced : public E2eTest {
 protected:
  Json sweep_json() const { return Json::parse(read_file(out() + "/sweep.json").value()); }
  Ran sweep(std::vector<std::string> command, std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments{"sweep", "--out", out()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return run(arguments);
  }
  // How the rows ended in a column, in order.
  static std::vector<std::string> ends(const Json& matrix, const std::string& column) {
    std::vector<std::string> out;
    for (const Json& row : matrix["rows"]) out.push_back(row["cells"][column]["end"]);
    return out;
  }
  void TearDown() override {
    expect_nothing_left();
    E2eTest::TearDown();
  }
};

TEST_F(Traced, RecordShowsEveryCallOfAStaticProgram) {
  const Ran ran = run({"record", "--out", out(), "--cache", cache(), "--", builder, "{cache}"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("# ms since the start; * changed the cache or a lock; 60 calls, "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(" * A: flock lock LOCK_EX"), std::string::npos) << ran.out;
  EXPECT_TRUE(exists(out() + "/recording.history"));
}

TEST_F(Traced, ASoundBuilderComesOutClean) {
  const Ran ran = sweep({builder, "{cache}"}, {"--cache", cache()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json matrix = sweep_json();
  std::size_t points = 0;
  for (const Json& row : matrix["rows"]) points += row["points"].get<std::size_t>();
  EXPECT_EQ(points, 120u) << "before and after each of 60 calls";
  for (const std::string& end : ends(matrix, "tree")) EXPECT_EQ(end, "recovered");
  EXPECT_EQ(wide_lines(ran.out, 80), std::vector<std::string>()) << ran.out;
}

TEST_F(Traced, ReplayedCompilersShowWhatTheRealOnesShow) {
  const std::string source = put("work/k.cc", "int answer() { return 42; }\n");
  // It takes what it finds, so whatever ld leaves half written is torn.
  const std::vector<std::string> command{"sh", "-c", "[ -e {cache}/k.so ] || g++ -shared -fPIC " + source + " -o {cache}/k.so"};
  const Ran real = sweep(command);
  ASSERT_EQ(real.code, 1) << real.out << real.err;
  const Json without = sweep_json();
  ASSERT_TRUE(remove_tree(out()));
  const Ran ran = sweep(command, {"--replay-compiler"});
  ASSERT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json with = sweep_json();
  std::size_t replayed = 0, findings = 0;
  for (const char* column : {"tree", "builder_orphan_first", "builder_orphan_held"}) {
    EXPECT_EQ(ends(with, column), ends(without, column)) << column;
    std::string last;
    for (const Json& row : with["rows"]) {
      const Json& cell = row["cells"][column];
      replayed += cell.value("replayed", false) ? 1 : 0;
      const std::string finding = cell["end"] == "torn" ? cell["detail"].get<std::string>() : "";
      findings += finding.empty() ? 0 : 1;
      const bool unconfirmed = !finding.empty() && finding != last && cell.value("replayed", false);
      EXPECT_FALSE(unconfirmed) << row.dump(1);
      last = finding;
    }
  }
  EXPECT_GT(findings, 2u) << ran.out;
  EXPECT_GT(replayed, 2u) << ran.out;
  EXPECT_NE(ran.out.find("with replayed compilers"), std::string::npos) << ran.out;
  EXPECT_FALSE(exists(out() + "/tapes"));
  EXPECT_EQ(wide_lines(ran.out, 80), std::vector<std::string>()) << ran.out;
}

TEST_F(Traced, ABatonHangsFromItsCreationToItsRemovalAndReplaysEveryTime) {
  const Ran ran = sweep({builder, "{cache}", "--baton"});
  ASSERT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  bool held = false;
  std::size_t hangs = 0;
  for (const Json& row : matrix["rows"]) {
    const std::string step = row["step"];
    if (step.find("open lock ") != std::string::npos && step.find("O_EXCL") != std::string::npos) held = true;
    // Whoever finds the artifact takes no lock.
    if (step.find("rename artifact.new -> artifact") != std::string::npos) held = false;
    EXPECT_EQ(row["cells"]["tree"]["end"], held ? "hang" : "recovered") << step;
    if (!held) continue;
    ++hangs;
    EXPECT_EQ(row["cells"]["tree"]["confirmed"], "real") << step;
    EXPECT_NE(row["cells"]["tree"]["detail"].get<std::string>().find("lock was made by A"), std::string::npos) << row.dump(1);
  }
  EXPECT_GT(hangs, 10u);
  const std::string plan = out() + "/replays/" + list_dir(out() + "/replays").value().at(1);
  ASSERT_TRUE(plan.ends_with(".plan")) << plan;
  const Ran again = run({"replay", plan, "--trials", "50", "--out", at("again")});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("hang 50 of 50"), std::string::npos) << again.out;
}

TEST_F(Traced, AReplayOfAnotherProgramNamesTheStepWhereItLeft) {
  ASSERT_EQ(sweep({builder, "{cache}", "--baton"}).code, 1);
  std::string text = read_file(out() + "/replays/" + list_dir(out() + "/replays").value().at(5)).value();
  const std::size_t at_flag = text.find("command --baton\n");
  ASSERT_NE(at_flag, std::string::npos) << text;
  text.erase(at_flag, std::string("command --baton\n").size());
  const Ran again = run({"replay", put("work/other.plan", text), "--trials", "2", "--out", at("again")});
  EXPECT_EQ(again.code, 2) << again.out << again.err;
  EXPECT_NE(again.out.find("instead of \""), std::string::npos) << again.out;
}

TEST_F(Traced, AShellRecipeWithADirectoryForALock) {
  // Each of its wake-ups starts two programs; how many are asked for is not what this is about.
  const Ran ran = sweep({"bash", std::string(subjects) + "mkdir_recipe.sh", "{cache}"}, {"--polls", "200"});
  ASSERT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  for (const Json& row : matrix["rows"]) {
    const std::string step = row["step"];
    const bool free = step.starts_with("before ") || step.find("rmdir lock.d") != std::string::npos;
    for (const char* column : {"tree", "builder_orphan_first", "builder_orphan_held"}) {
      const std::string end = row["cells"][column]["end"];
      if (end == "not_applicable") continue;
      EXPECT_EQ(end, free ? "recovered" : "hang") << step << " " << column;
    }
  }
  EXPECT_NE(ran.out.find("polls for ever: mkdir lock.d"), std::string::npos) << ran.out;
}

TEST_F(Traced, ASoundBuilderStandsFaultsAtItsCallsToo) {
  const Ran ran = sweep({builder, "{cache}"}, {"--waiters", "--torn-writes", "--lost-replies", "--errno", "ENOSPC,ENOLCK"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json matrix = sweep_json();
  for (const std::string& end : ends(matrix, "tree_waiter")) EXPECT_EQ(end, "recovered");
  std::map<std::string, int> tried;
  for (const Json& fault : matrix["faults"]) {
    ++tried[fault["fault"]];
    EXPECT_EQ(fault["cell"]["end"], "recovered") << fault.dump(1);
    EXPECT_EQ(fault["cell"]["confirmed"], "real") << fault.dump(1);
  }
  for (const char* fault : {"ENOSPC", "ENOLCK", "lost reply, EEXIST", "lost reply, ENOENT", "cut to half, then SIGKILL",
                            "cut to all but a byte, then SIGKILL"}) {
    EXPECT_GT(tried[fault], 0) << fault;
  }
  EXPECT_EQ(wide_lines(ran.out, 80), std::vector<std::string>()) << ran.out;
}

// A directory for a lock, and a write in place: everything that can go wrong does.
constexpr const char* bare_baton = R"(
import os, sys, time
os.chdir(sys.argv[1])
while True:
    try: os.mkdir("lock"); break
    except FileExistsError: time.sleep(0.1)
try:
    if not os.path.exists("k"):
        fd = os.open("k", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"artifact"); os.close(fd)
    if os.stat("k").st_size != 8: sys.exit("torn")
finally: os.rmdir("lock")
)";

TEST_F(Traced, ABatonLosesToWaitersFullDisksAndLostReplies) {
  const Ran ran = sweep({"/usr/bin/python3", "-c", bare_baton, "{cache}"},
                        {"--waiters", "--torn-writes", "--lost-replies", "--errno", "ENOSPC,EACCES", "--polls", "100"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  bool held = false;
  for (const Json& row : matrix["rows"]) {
    const std::string step = row["step"];
    if (step == "after A: mkdir lock") held = true;
    if (step == "after A: rmdir lock") held = false;
    EXPECT_EQ(row["cells"]["tree_waiter"]["end"], held ? "hang" : "recovered") << step;
  }
  std::map<std::string, std::string> seen;
  std::string replay;
  for (const Json& fault : matrix["faults"]) {
    const std::string name = fault["fault"].get<std::string>() + " at " + fault["step"].get<std::string>();
    seen[name] = fault["cell"]["end"];
    if (name == "lost reply, EEXIST at after A: mkdir lock") replay = fault["cell"]["replay"];
  }
  EXPECT_EQ(seen["lost reply, EEXIST at after A: mkdir lock"], "hang");
  EXPECT_EQ(seen["lost reply, ENOENT at after A: rmdir lock"], "recovered");
  EXPECT_EQ(seen["EACCES at after A: rmdir lock"], "hang");
  // The file of a full disk stays, and is not looked at again before it is loaded.
  EXPECT_EQ(seen["ENOSPC at after A: write k"], "failed");
  EXPECT_EQ(seen["ENOSPC at after A: mkdir lock"], "recovered");
  EXPECT_EQ(seen["cut to half, then SIGKILL at after A: write k"], "hang");
  ASSERT_FALSE(replay.empty());
  const Ran again = run({"replay", replay, "--trials", "4", "--out", at("again")});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("lost reply, EEXIST, after A: mkdir lock, 4 times"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("hang 4 of 4"), std::string::npos) << again.out;
}

// As GPTQModel's: the lock lies beside the cache, where a clear of the cache does not reach it.
TEST_F(Traced, ALockBesideTheCacheIsEachTrialsOwn) {
  const Ran ran = sweep({"/bin/sh", "-c",
                         "until mkdir \"$0.lock\" 2>/dev/null; do sleep 0.1; done; rm -rf \"$0\"; mkdir \"$0\"; echo built >\"$0/k\"; "
                         "rmdir \"$0.lock\"; cat \"$0/k\"", "{cache}"}, {"--polls", "100"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  bool held = false;
  std::size_t hangs = 0;
  for (const Json& row : matrix["rows"]) {
    const std::string step = row["step"];
    if (step == "after A/mkdir: mkdir ../cache.lock") held = true;
    if (step == "after A/rmdir: rmdir ../cache.lock") held = false;
    for (const Json& cell : row["cells"]) {
      if (cell["end"] == "not_applicable") continue;
      EXPECT_EQ(cell["end"], held ? "hang" : "recovered") << step << cell.dump(1);
      if (!held) continue;
      ++hangs;
      EXPECT_NE(cell["left"].dump().find("../cache.lock/"), std::string::npos) << cell.dump(1);
    }
  }
  EXPECT_GT(hangs, 3u) << ran.out;
}

// As vLLM's: the lock lies among temporary files, named by a digest.
TEST_F(Traced, ALockAmongTemporaryFilesIsSeenAndEachTrialsOwn) {
  const Ran ran = sweep({"/bin/sh", "-c",
                         "until mkdir \"$TMPDIR/3f2a9c1d77aa0b42.lock\" 2>/dev/null; do sleep 0.1; done; echo built >\"$0/k\"; "
                         "rmdir \"$TMPDIR/3f2a9c1d77aa0b42.lock\"; cat \"$0/k\"", "{cache}"}, {"--polls", "100"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  EXPECT_EQ(matrix["beside"], Json::array({"$TMPDIR/3f2a9c1d77aa0b42.lock"}));
  EXPECT_NE(ran.out.find("and with it $TMPDIR/3f2a9c1d77aa0b42.lock"), std::string::npos) << ran.out;
  EXPECT_EQ(ends(matrix, "tree"), (std::vector<std::string>{"recovered", "hang", "hang", "hang", "recovered"})) << ran.out;
  const std::string replay = matrix["rows"][1]["cells"]["tree"]["replay"];
  const Ran again = run({"replay", replay, "--trials", "4", "--out", at("again")});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("hang 4 of 4"), std::string::npos) << again.out;
}

// What lies anywhere else is everybody's: one trial after the other, and none finds what the one before left there.
TEST_F(Traced, ALockAnywhereIsSeenAndTakenAwayAfterEachTrial) {
  const std::string lock = at("k.lock");
  const std::vector<std::string> command{"/bin/sh", "-c",
                                         "until mkdir \"$1\" 2>/dev/null; do sleep 0.1; done; echo built >\"$0/k\"; rmdir \"$1\"; cat \"$0/k\"",
                                         "{cache}", lock};
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--beside", lock}}) {
    std::vector<std::string> all{"--polls", "100"};
    all.insert(all.end(), flags.begin(), flags.end());
    const Ran ran = sweep(command, all);
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    const Json matrix = sweep_json();
    EXPECT_EQ(matrix["beside"], Json::array({lock}));
    EXPECT_EQ(ends(matrix, "tree"), (std::vector<std::string>{"recovered", "hang", "hang", "hang", "recovered"})) << ran.out;
    EXPECT_FALSE(exists(lock));
    ASSERT_TRUE(remove_tree(out()));
  }
  const Ran recorded = run({"record", "--out", out(), "--", command[0], command[1], command[2], "{cache}", lock});
  EXPECT_EQ(recorded.code, 0) << recorded.out << recorded.err;
  EXPECT_NE(recorded.out.find("# outside of the cache, and shared: " + lock), std::string::npos) << recorded.out;
}

// A copy is some seconds old when a fresh process comes to it: by then the lock of the dead would be stale.
TEST_F(Traced, ALockThatGoesByAgeIsJudgedByTheKillItself) {
  const std::string script = put("work/aged.py", R"(
import os, sys, time
cache = sys.argv[1]
lock, artifact = os.path.join(cache, "lock"), os.path.join(cache, "artifact")
if not os.path.exists(artifact):
    if os.path.exists(lock) and time.time() - os.stat(lock).st_mtime > 4:
        os.remove(lock)
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        sys.exit("somebody builds")
    with open(artifact + ".new", "w") as file:
        file.write("built")
    os.rename(artifact + ".new", artifact)
    os.remove(lock)
    time.sleep(5)  # passes by itself but for the plain count, after which the copies are that old
print(open(artifact).read())
)");
  const Ran ran = sweep({"python3", script, "{cache}"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("real kills where a lock was taken away"), std::string::npos) << ran.err;
  const Json matrix = sweep_json();
  EXPECT_EQ(matrix["downgrades"], Json::array());
  int failed = 0;
  for (const Json& row : matrix["rows"]) {
    const Json& cell = row["cells"]["tree"];
    if (cell["end"] != "failed") continue;
    ++failed;
    EXPECT_NE(cell["detail"].get<std::string>().find("somebody builds"), std::string::npos) << cell;
    EXPECT_EQ(cell["confirmed"], "real");
  }
  EXPECT_GT(failed, 0) << ran.out;
}

TEST_F(Traced, WhatASignalsHandlerCleansUpIsNoHang) {
  const std::vector<std::string> command{"/bin/bash", "-c",
                                         "cd \"$0\"; until mkdir lock 2>/dev/null; do sleep 0.1; done; trap 'rmdir lock' EXIT; "
                                         "[ -e k ] || { echo built >k.$$; mv k.$$ k; }; cat k", "{cache}"};
  EXPECT_EQ(sweep(command, {"--polls", "100"}).code, 1);
  std::filesystem::rename(out(), at("killed"));
  const Ran ran = sweep(command, {"--signal", "TERM", "--polls", "100"});
  const Json by_term = sweep_json(), by_kill = Json::parse(read_file(at("killed") + "/sweep.json").value());
  EXPECT_EQ(by_term["recording"]["signal"], "SIGTERM");
  EXPECT_LT(by_term["summary"]["hang"].get<int>(), by_kill["summary"]["hang"].get<int>()) << ran.out;
  EXPECT_NE(ran.out.find("SIGTERM"), std::string::npos) << ran.out;
}

TEST_F(Traced, WhatIsNoFaultIsRefused) {
  for (const auto& [flags, sentence] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--signal", "STOP"}, "SIGSTOP ends nobody"},
           {{"--signal", "WHAT"}, "\"WHAT\" is no signal"},
           {{"--errno", "ENOENT"}, "\"ENOENT\" is none of all, ENOSPC, "}}) {
    const Ran ran = sweep({builder, "{cache}"}, flags);
    EXPECT_EQ(ran.code, 64);
    EXPECT_NE(ran.err.find(sentence), std::string::npos) << ran.err;
    EXPECT_FALSE(exists(out()));
  }
}

// As below ninja with two jobs: which of two compilers writes first differs from run to run.
TEST_F(Traced, SiblingsInAnyOrderAreNoOtherProgram) {
  const Ran ran = sweep({"/bin/sh", "-c",
                         "cd \"$0\"; for i in 1 2 3; do sh -c 'echo x >$0.tmp; echo y >>$0.tmp; mv $0.tmp $0' $i & done; wait; "
                         "cat 1 2 3", "{cache}"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const Json matrix = sweep_json();
  EXPECT_EQ(matrix["summary"]["inconclusive"], 0) << ran.out;
  EXPECT_GT(matrix["summary"]["recovered"].get<int>(), 20) << ran.out;
}

TEST_F(Traced, WhatCannotBeSweptIsSaidInASentence) {
  struct Wrong {
    std::vector<std::string> command;
    const char* says;
  };
  for (const Wrong& wrong : {Wrong{{"no-such-program-here", "{cache}"}, "no-such-program-here"},
                             Wrong{{"true"}, "never touched the cache"},
                             Wrong{{"sh", "-c", "ls \"$1\"; exit 3", "sh", "{cache}"}, "exit 3"}}) {
    const std::string dir = at("out-" + wrong.command[0]);
    const Ran ran = run({"sweep", "--out", dir, "--", wrong.command[0],
                         wrong.command.size() > 1 ? wrong.command[1] : "x", wrong.command.size() > 2 ? wrong.command[2] : "x",
                         wrong.command.size() > 3 ? wrong.command[3] : "x", wrong.command.size() > 4 ? wrong.command[4] : "x"});
    EXPECT_EQ(ran.code, 64) << ran.out << ran.err;
    EXPECT_NE(ran.err.find(wrong.says), std::string::npos) << ran.err;
    EXPECT_LE(line_count(ran.err), 3) << ran.err;
    EXPECT_FALSE(exists(dir)) << "nothing of it stays: " << lines_of(list_tree(dir));
  }
  const Ran skipped = sweep({"/bin/sh", "-c", "ls \"$0\"; echo no compiler; exit 77", "{cache}"});
  EXPECT_EQ(skipped.code, 2) << skipped.err;
  EXPECT_NE(skipped.err.find("skipped: the command says that it cannot run here: exit 77: no compiler"), std::string::npos) << skipped.err;
  EXPECT_EQ(run({"sweep"}).code, 64);
  EXPECT_EQ(run({"sweep", "--polls", "0", "--", "true"}).code, 64);
}

TEST_F(Traced, ATemporaryFileIsMovedIntoTheCacheAsWithoutUs) {
  const Ran ran = sweep({"sh", "-c", "t=$(mktemp); echo x >$t; perl -e 'rename($ARGV[0], $ARGV[1]) or die \"$!\"' $t {cache}/out"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

// The directory for temporary files is another one where it is replayed.
TEST_F(Traced, AFindingBehindAMoveFromTheTemporaryDirectoryReplays) {
  const Ran ran = sweep({"sh", "-c", "mkdir {cache}/lock || exit 3; t=$(mktemp); echo x >$t; "
                                     "perl -e 'rename($ARGV[0], $ARGV[1]) or die' $t {cache}/out; rmdir {cache}/lock"});
  ASSERT_EQ(ran.code, 1) << ran.out << ran.err;
  const Json matrix = sweep_json();
  std::string plan;
  for (const Json& row : matrix["rows"]) {
    if (row["step"].get<std::string>().find("rename $TMPDIR/tmp.# -> out") != std::string::npos) plan = row["cells"]["tree"]["replay"];
  }
  ASSERT_NE(plan, "") << matrix.dump(1);
  const Ran again = run({"replay", plan, "--trials", "3", "--out", at("again")});
  EXPECT_EQ(again.code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("failed 3 of 3"), std::string::npos) << again.out;
}

TEST_F(Traced, WhatRankZeroLeavesHalfDoneIsTorn) {
  const Ran ran = sweep({"sh", "-c", "if [ {worker} = 0 ]; then [ -e {cache}/out ] || printf all >{cache}/out; fi"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("TORN"), std::string::npos) << ran.out;
}

TEST_F(Traced, ALockThatAllTrialsShareIsWaitedFor) {
  const std::string lock = put("work/shared.lock", "");
  const Ran ran = sweep({"sh", "-c", "exec 9>" + lock + "; flock 9; echo x >{cache}/t; mv {cache}/t {cache}/out"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Traced, WhatVariesWithWorkerRunAndUseIsNoArtifact) {
  const Ran ran = sweep({"sh", "-c", "echo start >>{cache}/log; [ -s {cache}/out ] || { echo {worker} >{cache}/t; mv {cache}/t {cache}/out; }; "
                                     "[ -s {cache}/id ] || { echo $$ $(date +%N) >{cache}/u; mv {cache}/u {cache}/id; }"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(sweep_json()["varying"], Json::array({"id", "log", "out"}));
  EXPECT_NE(ran.out.find("id, log, out differ from one fault-free run to another"), std::string::npos) << ran.out;
}

// Its bytes are other ones in each run; that there are some is asked nevertheless.
TEST_F(Traced, AnEmptyFileIsTornThoughItsBytesVary) {
  const Ran ran = sweep({"sh", "-c", "[ -e {cache}/out ] || echo $$ $(date +%N) >{cache}/out"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("out is empty"), std::string::npos) << ran.out;
}

TEST_F(Traced, AProgramForEachLookIsNoMiscount) {
  const Ran ran = sweep({"sh", "-c", "( sleep 1; echo d >{cache}/done ) & until cat {cache}/done 2>/dev/null; do sleep 0.1; done; wait"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Traced, ANameWithAnEscapeIsWrittenAsOne) {
  const Ran ran = run({"record", "--out", out(), "--", "sh", "-c", "echo x >\"$0/$(printf 'a\\033[31m\\nb')\"", "{cache}"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("open a\\x1b[31m b "), std::string::npos) << ran.out;
}

class TracedEnds : public Traced, public testing::WithParamInterface<int> {};

TEST_P(TracedEnds, NothingStays) {
  Driver driver = start({"sweep", "--out", out(), "--cache", cache(), "--", "bash", std::string(subjects) + "mkdir_recipe.sh", "{cache}"});
  ASSERT_TRUE(driver.wait_for_error("classes of points"));
  ASSERT_EQ(::kill(driver.process().pid(), GetParam()), 0);
  const Ran ran = driver.finish();
  if (GetParam() == SIGINT) {
    EXPECT_EQ(ran.code, 130) << ran.err;
  }
  expect_nothing_left();
}

// While it waits for what never comes: for a writer of a fifo, outside of the tree. What is there of the third is not yet
// known of, but of the two before.
TEST_F(Traced, AnInterruptTakesAwayWhatTheTrialMadeAnywhere) {
  const std::string lock = at("k.lock");
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  put("theirs", "");
  Driver driver = start({"sweep", "--out", out(), "--cache", cache(), "--", "sh", "-c", ": >$0; : >$0.2; : >$0.3; cat $1; rm $0", lock,
                         at("fifo"), "{cache}"});
  ASSERT_TRUE(driver.wait_for_file(lock + ".3")) << driver.finish(seconds(1)).err;
  ASSERT_EQ(::kill(driver.process().pid(), SIGINT), 0);
  EXPECT_EQ(driver.finish().code, 130);
  EXPECT_FALSE(exists(lock));
  EXPECT_FALSE(exists(lock + ".2"));
  EXPECT_TRUE(exists(at("theirs")));
  (void)::unlink((lock + ".3").c_str());
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Signals, TracedEnds, testing::Values(SIGINT, SIGTERM, SIGKILL));

}  // namespace
}  // namespace jitrace::test
