// Workers that a zygote forks: to the lane, and to the program, they are what a fresh process would be.
#include "trace/zygote.h"

#include "support/python_baton.h"
#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

// Says that it was imported.
constexpr const char* counted_module = R"(
import os
with open(os.path.join(os.path.dirname(__file__), "imports"), "a") as file:
    file.write("x")
)";

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? *text : std::string();
}

class LaneZygote : public ::testing::Test {
 protected:
  LaneZygote() : directory_(std::move(TempDir::create(P_tmpdir, "jitrace-test-").value())) {
    EXPECT_TRUE(write_file(path("counted.py"), counted_module));
  }
  std::string path(const std::string& name) const { return join(directory_.path(), name); }
  std::string script(const std::string& text) const {
    EXPECT_TRUE(write_file(path("script.py"), text));
    return path("script.py");
  }
  Zygote::Wanted wanted(std::vector<std::string> modules = {"counted"}) const {
    return {JITRACE_LIBEXEC, directory_.path(), {"python3", path("script.py"), "{cache}"}, std::move(modules)};
  }
  std::string imports() const { return text_of(path("imports")); }
  std::string refused(std::vector<std::string> modules) const {
    const auto zygote = Zygote::start(wanted(std::move(modules)), -1);
    return zygote ? "it was started" : zygote.error().message();
  }

 private:
  TempDir directory_;
};

TEST_F(LaneZygote, ItsCallsAndRolesAreThoseOfAFreshProcess) {
  const std::string name = script(test::python_baton);
  LaneRun fresh({"python3", name, "{cache}"});
  ASSERT_TRUE(fresh.run());
  EXPECT_THAT(fresh.outcomes(), ElementsAre(Outcome::served));
  EXPECT_EQ(imports(), "x");
  LaneRun forked({"python3", name, "{cache}"});
  const auto zygote = Zygote::start(wanted(), -1);
  ASSERT_TRUE(zygote) << zygote.error().message();
  forked.plan.zygote = zygote->socket();
  ASSERT_TRUE(forked.run());
  EXPECT_THAT(forked.outcomes(), ElementsAre(Outcome::served));
  EXPECT_EQ(imports(), "xx") << "once by the fresh one, once by the zygote";
  EXPECT_THAT(forked.calls(), Contains("A: open lock O_RDONLY|O_CREAT|O_EXCL"));
  EXPECT_EQ(forked.calls(), fresh.calls());
  const std::string started = forked.first(EventKind::process_started).text;
  EXPECT_EQ(started, "A|python3 " + name + " " + forked.plan.cache);
}

TEST_F(LaneZygote, AKilledBuilderLeavesAHangThatIsProvedInMovedTime) {
  const std::string name = script(test::python_baton);
  LaneRun run({"python3", name, "{cache}"});
  const auto zygote = Zygote::start(wanted(), -1);
  ASSERT_TRUE(zygote) << zygote.error().message();
  run.plan.zygote = zygote->socket();
  run.plan.work = TraceWork::kill;
  run.plan.polls = 50;
  run.plan.step = StepName{"A", "open lock O_RDONLY|O_CREAT|O_EXCL", 1, Side::after};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::killed_by_plan, Outcome::hung));
  EXPECT_GE(run.passed(), seconds(2 * 3600));
  EXPECT_THAT(run.first(EventKind::hang_proved).text, HasSubstr("stat lock"));
  EXPECT_EQ(imports(), "x");
}

TEST_F(LaneZygote, ABuilderAloneIsKilledAndItsOrphanGoesOn) {
  const std::string name = script(test::python_baton);
  for (const OrphanOrder order : {OrphanOrder::first, OrphanOrder::held}) {
    LaneRun run({"python3", name, "{cache}"});
    const auto zygote = Zygote::start(wanted(), -1);
    ASSERT_TRUE(zygote) << zygote.error().message();
    run.plan.zygote = zygote->socket();
    run.plan.work = TraceWork::kill;
    run.plan.polls = 50;
    run.plan.step = StepName{"A/sh", "open artifact.new O_WRONLY|O_CREAT|O_TRUNC", 1, Side::after};
    run.plan.who = Victim::builder;
    run.plan.order = order;
    ASSERT_TRUE(run.run());
    EXPECT_THAT(run.calls("artifact.new"), Contains(HasSubstr("A/sh/mv: rename artifact.new -> artifact")));
    EXPECT_THAT(run.outcomes(), Contains(order == OrphanOrder::first ? Outcome::served : Outcome::hung));
  }
}

TEST_F(LaneZygote, TheScriptFindsWhatAFreshProcessWouldFind) {
  const std::string name = script(R"(
import os, signal, sys, tempfile
import counted
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
say = lambda *words: print(*words, file=open(os.path.join(sys.argv[1], "found"), "a"))
say(__file__, sys.argv[1:], sys.path, sys.stdin.isatty(), os.getcwd() if len(sys.argv) > 2 else "")
say(sorted(n for n in os.environ if n not in ("_", "SHLVL", "PATH") and "PYENV" not in n))
say(tempfile.gettempdir())
say(os.getsid(0) == os.getpid(), signal.getsignal(signal.SIGCHLD), len(os.listdir("/proc/self/fd")))
say(open("/proc/self/comm").read(), os.getpgrp() == os.getpid(), os.sched_getaffinity(0))
)");
  // The marks and the places of two runs differ by their directories alone.
  std::vector<std::string> found;
  for (const bool forks : {false, true}) {
    LaneRun run({"python3", name, "{cache}"});
    std::optional<Zygote> zygote;
    if (forks) {
      auto started = Zygote::start(wanted(), -1);
      ASSERT_TRUE(started) << started.error().message();
      zygote.emplace(std::move(*started));
      run.plan.zygote = zygote->socket();
    }
    ASSERT_TRUE(run.run());
    EXPECT_THAT(run.outcomes(), ElementsAre(Outcome::served)) << run.first(EventKind::outcome).text;
    std::string text = text_of(run.in_cache("found"));
    const std::string own = parent_of(run.plan.cache);
    for (std::size_t at = 0; (at = text.find(own)) != std::string::npos;) text.replace(at, own.size(), "RUN");
    found.push_back(text);
  }
  EXPECT_NE(found[0], "");
  EXPECT_EQ(found[1], found[0]);
}

TEST_F(LaneZygote, ItEndsAsAFreshProcessEnds) {
  for (const std::string end : {"sys.exit(3)", "sys.exit('no')", "{}['key']", "os._exit(4)", "os.kill(os.getpid(), 9)",
                                "import atexit; atexit.register(lambda: print('last words'))", "this is no python"}) {
    SCOPED_TRACE(end);
    const std::string name = script("import os, sys\nimport counted\n" + end + "\n");
    const auto zygote = Zygote::start(wanted(), -1);
    ASSERT_TRUE(zygote) << zygote.error().message();
    std::vector<std::string> ends;
    for (const std::string& socket : {std::string(), zygote->socket()}) {
      LaneRun run({"python3", name, "{cache}"});
      run.plan.zygote = socket;
      ASSERT_TRUE(run.run());
      const Event outcome = run.first(EventKind::outcome);
      ends.push_back(std::to_string(outcome.a) + " " + outcome.text + "\n" + text_of(run.path("scratch/output-A")));
    }
    EXPECT_EQ(ends[1], ends[0]);
  }
}

TEST_F(LaneZygote, SaysWhatItCannotDo) {
  script("");
  EXPECT_THAT(refused({"no_such_module"}), HasSubstr("cannot import no_such_module: ModuleNotFoundError: "));
  ASSERT_TRUE(write_file(path("threads.py"), "import threading, time\n"
                                             "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"));
  EXPECT_THAT(refused({"threads"}), HasSubstr("there are 2 threads after the imports"));
  ASSERT_TRUE(write_file(path("ends.py"), "import os\nos._exit(9)\n"));
  EXPECT_THAT(refused({"ends"}), HasSubstr("exit 9"));
  EXPECT_EQ(Zygote::refusal({"/usr/bin/python3.11", "s.py"}), "");
  EXPECT_THAT(Zygote::refusal({"sh", "s.py"}), HasSubstr("the command starts with sh"));
  EXPECT_THAT(Zygote::refusal({"python3", "-c", ""}), HasSubstr("without flags"));
  EXPECT_THAT(Zygote::refusal({"python3"}), HasSubstr("python3 SCRIPT"));
}

}  // namespace
}  // namespace jitrace
