// The user's own program: free mode, kills at random moments, errors classified by what it said, stalled and never hang.

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

using Json = nlohmann::json;

class OwnCommand : public E2eTest {
 protected:
  // A scenario whose subject is this shell script, called with the cache and the worker's number.
  std::string own(const std::string& script, const std::string& more, int watchdog = 30) const {
    const std::string path = put("work/loader.sh", script);
    return scenario("[scenario]\nname = \"own\"\n[workload]\nworkers = 3\ntrials = 3\nseed = 3\nwatchdog_s = " +
                    std::to_string(watchdog) + "\n[[subject]]\nname = \"mine\"\ncommand = [\"/bin/sh\", \"" + path + "\", \"{cache}\", \"{worker}\"]\n" + more);
  }
};

// Builds under a lock that dies with its holder, takes its time, and writes what it built whole.
constexpr const char* sound_loader = R"(cd "$1" || exit 9
exec 9>lock
flock 9 || exit 9
[ -f artifact ] || { sleep 0.4; echo built > artifact.$2; mv artifact.$2 artifact; }
grep -q built artifact
)";

// A directory for a lock: whoever dies with it leaves it behind.
constexpr const char* baton_loader = R"(cd "$1" || exit 9
until mkdir lock 2>/dev/null; do sleep 0.02; done
[ -f artifact ] || { sleep 0.3; echo built > artifact; }
rmdir lock
)";

constexpr const char* random_kill = "[[fault]]\nname = \"kill\"\nwho = \"tree 1\"\nat = \"random\"\nwhat = \"SIGKILL\"\n";

TEST_F(OwnCommand, RunsFreeAndGivesRates) {
  const Ran ran = run({"run", own(sound_loader, "[[expect]]\nrecovered = true\nnever = [\"loud\", \"torn\"]\n"), "--out", out(),
                       "--cache", cache()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  const Json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["strategy"], "mine");
  EXPECT_EQ(cell["mode"], "free");
  EXPECT_EQ(cell["workers"], 3);
  EXPECT_EQ(cell["outcomes"], Json({{"served", 9}})) << cell.dump(1);
  for (const Json& rate : cell["rates"]) {
    EXPECT_EQ(rate["n"], 3);
    EXPECT_LE(rate["low"].get<double>(), rate["high"].get<double>());
  }
}

TEST_F(OwnCommand, KillsAtRandomMomentsOfTheSeed) {
  const std::string path = own(sound_loader, std::string(random_kill) + "[[expect]]\nnever = [\"hang\"]\n");
  const Ran ran = run({"run", path, "--out", out(), "--trials", "12"});
  EXPECT_TRUE(ran.code == 0 || ran.code == 2) << ran.err << ran.out;
  const Json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["fault"]["random"], true);
  EXPECT_EQ(cell["faults"]["planned"], 12);
  // The moments lie within a clean trial's length: most of them strike.
  EXPECT_GE(cell["faults"]["fired"].get<int>(), 6) << cell.dump(1);
  EXPECT_EQ(cell["outcomes"].value("killed_by_plan", 0), cell["faults"]["fired"]) << cell.dump(1);
  EXPECT_EQ(run({"run", path, "--dry-run"}).out, run({"run", path, "--dry-run"}).out);
}

TEST_F(OwnCommand, AKillThatComesAfterTheEndDidNotFire) {
  // Programs that end at once: of the kills in their last moments some are sent to one that has ended.
  const Ran ran = run({"run", own("exit 0\n", std::string(random_kill) + "[[expect]]\nnever = [\"hang\"]\n"), "--out", out(),
                       "--trials", "100", "--workers", "1"});
  EXPECT_TRUE(ran.code == 0 || ran.code == 2) << ran.err << ran.out;
  const Json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["outcomes"].value("killed_by_plan", 0), cell["faults"]["fired"]) << cell.dump(1);
  EXPECT_EQ(cell["outcomes"].value("killed_by_plan", 0) + cell["outcomes"].value("served", 0), 100) << cell.dump(1);
}

TEST_F(OwnCommand, ALoaderThatNeverEndsIsStalledAndNoHang) {
  const Ran ran = run({"run", own("cd \"$1\"; mkdir lock; until [ ! -d lock ]; do sleep 0.05; done\n", "", 1), "--out", out(),
                       "--trials", "1", "--workers", "2"});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const Json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["inconclusive"], 1);
  EXPECT_FALSE(cell["findings"].contains("hang")) << cell.dump(1);
  EXPECT_EQ(cell["outcomes"], Json({{"stalled", 2}})) << cell.dump(1);
  EXPECT_NE(cell["inconclusive_reasons"].dump().find("stalled"), std::string::npos);
}

TEST_F(OwnCommand, ALeftLockStallsThoseWhoWait) {
  // Whoever dies with the lock leaves it; for the others there is no end, and no proof in the free mode.
  const Ran ran = run({"run", own(baton_loader, std::string(random_kill) + "[[expect]]\nnever = [\"hang\"]\n", 2), "--out", out(),
                       "--trials", "6", "--workers", "2"});
  const Json cell = read_report(out())["cells"][0];
  EXPECT_FALSE(cell["findings"].contains("hang")) << cell.dump(1);
  EXPECT_EQ(cell["trials"], 6);
  EXPECT_TRUE(ran.code == 0 || ran.code == 2) << ran.err << ran.out;
}

TEST_F(OwnCommand, ErrorsAreClassifiedByWhatWasSaid) {
  const Ran ran = run({"run", own("[ \"$2\" = 1 ] && { echo 'ImportError: /x/ext.so: file too short' >&2; exit 1; }\nexit 0\n", ""), "--out", out()});
  EXPECT_EQ(ran.code, 1) << ran.err << ran.out;
  const Json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["findings"]["torn"], 3) << cell.dump(1);
  EXPECT_EQ(cell["outcomes"], Json({{"failed", 3}, {"served", 6}})) << cell.dump(1);
  ASSERT_FALSE(cell["examples"].empty());
  EXPECT_NE(cell["examples"].dump().find("file too short"), std::string::npos) << cell.dump(1);
  // Rates with their interval: free trials are counted, not ordered.
  EXPECT_EQ(cell["rates"]["torn"]["n"], 3) << cell.dump(1);
  EXPECT_EQ(cell["rates"]["torn"]["k"], 3);
}

TEST_F(OwnCommand, AFifoInTheCacheHoldsNobodyUp) {
  const Ran ran = run({"run", own("mkfifo \"$1/fifo\" 2>/dev/null; exit 0\n", ""), "--out", out()});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
}

TEST_F(OwnCommand, AProgramThatIsMissing) {
  const Ran ran = run({"run", scenario("[scenario]\nname = \"own\"\n[workload]\nworkers = 2\ntrials = 1\nwatchdog_s = 5\n[[subject]]\n"
                                       "name = \"mine\"\ncommand = [\"" + at("nowhere/loader") + "\", \"{cache}\"]\n"),
                       "--out", out()});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  EXPECT_EQ(read_report(out())["cells"][0]["skipped"]["reason"], "start " + at("nowhere/loader") + ": No such file or directory");
}

TEST_F(OwnCommand, ItsTemporaryFilesGoIntoTheRun) {
  const Ran ran = run({"run", own("echo x > \"$TMPDIR/scratch.$2\"; echo y > \"${TORCH_EXTENSIONS_DIR%/*}/ext.$2\"; sleep 1000 & exit 0\n", "", 2),
                       "--out", out(), "--trials", "1"});
  EXPECT_NE(ran.code, 70) << ran.err << ran.out;  // that the user's files are as they were is held after every test
  EXPECT_NE(read_report(out())["cells"][0]["trials"], 0);
}

}  // namespace
}  // namespace jitrace::test
