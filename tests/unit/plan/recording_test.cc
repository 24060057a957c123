#include "plan/recording.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "plan/sweep_matrix.h"

namespace jitrace {
namespace {

Event event(EventKind kind, Slot slot, std::string text) {
  Event event;
  event.kind = kind;
  event.slot = slot;
  event.text = std::move(text);
  return event;
}

// What became of it in a run, and what in another.
struct Varying {
  std::string one, other, pattern;
};

TEST(PathPattern, IsTheSameForNamesThatDifferFromRunToRun) {
  const std::vector<Varying> names = {
      {"ccaB12Cd.o", "ccX9Ppq2.o", "cc#.o"},
      {"ccabcdef.s", "ccXYZuvw.s", "cc#.s"},  // by chance no digit and no capital
      {"cc3Kl0aA.res", "ccpppppp.res", "cc#.res"},
      {"tmpxft_0000abcd_00000000-6_kernel.cudafe1.cpp", "tmpxft_00012345_00000000-6_kernel.cudafe1.cpp",
       "tmpxft_#_#-6_kernel.cudafe1.cpp"},
      {"tmpab3x9_q1", "tmp________", "tmp#"},
      {"tmpabcdefgh.cpp", "tmp00000001.cpp", "tmp#.cpp"},
      {"tmp.AbCdEfGhIj", "tmp.aaaaaaaaaa", "tmp.#"},
      {"e.o.tmp.81723", "e.o.tmp.412", "e.o.tmp.#"},
      {"k.so.81723", "k.so.900", "k.so.#"},
      {"libext.so.81723", "libext.so.4711", "libext.so.#"},
      {"tmp.cpp_stdout.aB3dE9.ii", "tmp.cpp_stdout.Zz0Zz0.ii", "tmp.cpp_stdout.#.ii"},
      {"4/stats.tmp.ufcycp.tmp", "4/stats.tmp.Zkzkvy.tmp", "4/stats.tmp.#.tmp"},
      {"stderr.tmp.123456.tmp", "stderr.tmp.Wjugvl.tmp", "stderr.tmp.#.tmp"},
      {"e.o.tmp.abcdef", "e.o.tmp.Qwerty", "e.o.tmp.#"},
      {"#11552437 (deleted)", "#9 (deleted)", "# (deleted)"},
      {"private-a76f75721aa494f4/k.so", "private-115a6f5b75bcfb5b/k.so", "private-#/k.so"},
      {"a76f75721aa494f4", "115A6F5B75BCFB5B", "#"},
      {"k.0a0a0a0a.so", "k.ffffff00.so", "k.#.so"},
      {"out-aB3dE9", "out-Q7rT2p", "out-#"},
      {"sedAb1Cd2", "sedX2y3Zz", "sed#"},
      {"st1Aa2Bb", "stQ0q0Qq", "st#"},
      {"tmp_81723_3f2504e0-4f89-11d3-9a0c-0305e82c3301", "tmp_900_00000000-0000-4000-8000-00000000000a", "tmp_#_#"},
      {"cache/3f2504e0-4f89-11d3-9a0c-0305e82c3301.cubin", "cache/16fd2706-8baf-433b-82eb-8c7fada847da.cubin",
       "cache/#.cubin"},
      {".nfs00000000004a001c00000001", ".nfs00000000004a9f1c0000000b", ".nfs#"},
      {"ext.cpython-311.pyc.140234567890", "ext.cpython-311.pyc.140234567000", "ext.cpython-311.pyc.#"},
      {"4711-3f2504e0-4f8911d3-bbafbaef", "988-bbafbaef-0305e82c-16fd2706", "#-#-#-#"},
      {"d41d8cd98f00b204e9800998ecf8427e.4711.1421904", "98f00b204e9800998ecf8427ed41d8cd.98765.1421999", "#.#.#"},
      {"1700000000.123456", "1700000001.654321", "#.#"},
      {"tmpab3x9_q1/81723.tmp", "tmp0123zzzz/90.1234.tmp", ""},  // two shapes are two patterns
  };
  for (const Varying& name : names) {
    if (name.pattern.empty()) {
      EXPECT_NE(path_pattern(name.one), path_pattern(name.other));
      continue;
    }
    EXPECT_EQ(path_pattern(name.one), name.pattern);
    EXPECT_EQ(path_pattern(name.other), name.pattern);
  }
}

TEST(PathPattern, LeavesStableNamesAlone) {
  for (const char* name :
       {"kernel_90a", "e.o.d", "e.o", "sm_100a", "sm_100", "kernel.sm_103.cubin", "compute_120.ptx", "lock", "ext.so",
        "build.ninja", ".ninja_log", ".ninja_deps", "libfoo.so.1.13", "libnvrtc.so.13.0.880",
        "libabsl_base.so.20220623",
        "ext.cpython-311-x86_64-linux-gnu.so", "d41d8cd98f00b204e9800998ecf8427e",
        "kernel.gemm.da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.lock", "kernel.fatbin", "kernel.fatbin.c",
        "sha256.o", "x.sha256", "avx512_bf16x2.o", "kernel_OpMath.cu", "a.Config", "a.README", "ccache.conf",
        "ccommon.o", "ccutils.o", "static.o", "stable.o", "tmp", "tmp.1", "tmpfile", "e.o.tmp", "", "/", "a//b/", ".", "..",
        "-", "_", "deadbeef.o", "k.a76f757.so", "tmp.abcdefg", "tmp.abcde.tmp", "tmp_abcdef.tmp",
        "private-a76f75721aa494f4g"}) {
    EXPECT_EQ(path_pattern(name), name);
  }
}

// What is made by the rule of mkstemp is seen for what it is nearly always: the promise of a replay rests on it.
TEST(PathPattern, SeesNearlyAllRandomNames) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  Rng rng(7);
  int differ = 0;
  constexpr int names = 20000;
  for (int i = 0; i < names; ++i) {
    std::string six;
    for (int j = 0; j < 6; ++j) six += letters[rng.below(letters.size())];
    EXPECT_EQ(path_pattern("cc" + six + ".s"), "cc#.s");
    differ += path_pattern("k.so." + six) == "k.so.#" ? 0 : 1;
  }
  EXPECT_LT(differ, names / 33) << "3 in 100";
  EXPECT_GT(differ, 0) << "some of them are words";
}

TEST(PathPattern, KnowsNamesThatNobodyChose) {
  for (const char* name : {"ccQ3xT9b.o", "tmpab3x9_q1", "tmpxft_0000abcd_00000000-7_axpy.cubin", "tmp.aB3xQ9zK7w"}) {
    EXPECT_TRUE(is_temporary_name(name)) << name;
  }
  for (const char* name : {"k.lock", "tmpbuilding.lock", "cclock.o", "ccache-1000.lock", "torch_1.13.0_cu117_deadbeef01234567.lock"}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

TEST(PathPattern, OfAPatternIsItself) {
  for (const char* name : {"cc#.s", "tmpxft_#_#-6_kernel.cudafe1.cpp", "tmp#", "e.o.tmp.#", "tmp_#_#"}) {
    EXPECT_EQ(path_pattern(name), name);
  }
}

TEST(StepName, ReadsAsItIsWritten) {
  const StepName step{"A/ninja/sh/c++/as", "write e.o", 2, Side::after};
  EXPECT_EQ(step.text(), "after A/ninja/sh/c++/as: write e.o (2)");
  EXPECT_EQ((StepName{"A", "open lock O_WRONLY|O_CREAT|O_EXCL", 1, Side::before}.text()),
            "before A: open lock O_WRONLY|O_CREAT|O_EXCL");
  EXPECT_EQ(*StepName::parse(step.text()), step);
}

TEST(StepName, ComesBackWhateverIsInIt) {
  Rng rng(3);
  const std::vector<std::string> pieces = {":", ": ", " (", ")", "2",  " (2)", " (0)",   " (01)",   "\n",
                                           "a", "/A", " ",  "x", "é", "\x7f", "\\",      "\\x0a",   "before ",
                                           "%", "(",  "\xff", "99999999999", "after "};
  for (int i = 0; i < 20000; ++i) {
    StepName step;
    for (std::string* part : {&step.role, &step.what}) {
      do {
        *part += pieces[rng.below(pieces.size())];
      } while (rng.below(3) != 0);
    }
    step.occurrence = 1 + static_cast<int>(rng.below(4));
    step.side = rng.below(2) == 0 ? Side::before : Side::after;
    const std::string text = step.text();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto read = StepName::parse(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, step) << text;
  }
}

TEST(StepName, RefusesWhatIsNone) {
  for (const char* text : {"", "after", "after ", "after A", "after A:", "after A: ", "after : write e.o",
                           "A: write e.o", "during A: write e.o", "after A: write \\x", "after A: write \\xzz", "after A\\: write e.o",
                           "after A:  (2)x\\"}) {
    const auto step = StepName::parse(text);
    ASSERT_FALSE(step) << text;
    EXPECT_THAT(step.error().message(), testing::HasSubstr("is not 'before|after ROLE: CALL (N)'"));
  }
}

TEST(Recording, TakesProcessesAndCallsFromAHistory) {
  History history;
  Event begin = event(EventKind::trial_begin, driver_slot, "token");
  begin.stamp = 1000;
  Event worker = event(EventKind::process_started, 0, "A|python3 -c 'a|b'");
  worker.a = -1;
  worker.pid = 41;
  Event compiler = event(EventKind::process_started, 1, "A/cc1plus|cc1plus e.cpp");
  compiler.pid = 42;
  Event open = event(EventKind::call, 0, "open lock O_WRONLY|O_CREAT|O_EXCL");
  open.stamp = 1500;
  open.key = 1;
  open.a = 3;
  open.b = 1;
  Event stat = event(EventKind::call, 1, "stat e.o");
  stat.stamp = 1700;
  stat.key = 2;
  stat.a = -2;
  history.events = {begin,    worker, event(EventKind::process_ended, 0, ""),
                    compiler, open,   event(EventKind::parked, 1, "lock"),
                    stat,     event(EventKind::process_started, driver_slot, "never mind")};
  const Recording recording = recording_of(history);
  ASSERT_EQ(recording.processes.size(), 2u);
  EXPECT_EQ(recording.processes[0].role, "A");
  EXPECT_EQ(recording.processes[0].arguments, "python3 -c 'a|b'");
  EXPECT_EQ(recording.processes[0].parent, -1);
  EXPECT_EQ(recording.processes[0].pid, 41u);
  EXPECT_EQ(recording.processes[1].role, "A/cc1plus");
  EXPECT_EQ(recording.processes[1].parent, 0);
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].process, 0);
  EXPECT_EQ(recording.calls[0].round, 1);
  EXPECT_EQ(recording.calls[0].what, "open lock O_WRONLY|O_CREAT|O_EXCL");
  EXPECT_EQ(recording.calls[0].result, 3);
  EXPECT_TRUE(recording.calls[0].changed);
  EXPECT_EQ(recording.calls[0].at, 500);
  EXPECT_EQ(recording.calls[1].round, 2);
  EXPECT_EQ(recording.calls[1].result, -2);
  EXPECT_FALSE(recording.calls[1].changed);
}

TEST(Recording, TellsWhichPathsBesideTheCacheWereTouched) {
  Recording recording;
  for (const char* what : {"stat k", "mkdir $TMPDIR/a.lock", "rename /x/#.tmp -> /locks/job-#/b", "open /db/c/d O_RDONLY"}) {
    recording.calls.push_back({.what = what});
  }
  const std::vector<std::string> touched_ones{"$TMPDIR/a.lock", "/locks/job-4711/b", "/db/c"};
  std::vector<std::string> paths = touched_ones;
  for (const char* path : {"$TMPDIR/a", "/db/c/d/e", "/x/y"}) paths.push_back(path);
  EXPECT_EQ(touched(recording, paths), touched_ones);
}

TEST(Recording, ACallKeepsTheRoleOfItsTime) {
  History history;
  history.events = {
      event(EventKind::process_started, 0, "A|sh"),    event(EventKind::process_started, 1, "A/sh|sh"),
      event(EventKind::call, 1, "open out"),           event(EventKind::process_started, 1, "A/cat|cat out"),
      event(EventKind::call, 1, "write out"),          event(EventKind::process_started, 2, "A/sh|sh"),
      event(EventKind::process_started, 2, "A/ls|ls"), event(EventKind::call, 2, "stat out")};
  const Recording recording = recording_of(history);
  ASSERT_EQ(recording.processes.size(), 4u);
  const auto role = [&](std::size_t call) {
    return recording.processes.at(static_cast<std::size_t>(recording.calls.at(call).process)).role;
  };
  EXPECT_EQ(role(0), "A/sh");
  EXPECT_EQ(role(1), "A/cat");
  EXPECT_EQ(role(2), "A/ls");
  EXPECT_EQ(recording.processes[1].role, "A/cat");
  EXPECT_EQ(recording.processes[3].arguments, "sh");
}

TEST(Recording, SurvivesAHistoryThatLostItsStart) {
  History history;
  history.events = {event(EventKind::call, 3, "stat e.o")};
  const Recording recording = recording_of(history);
  ASSERT_EQ(recording.processes.size(), 4u) << "so that every call has its process";
  EXPECT_EQ(recording.calls.front().process, 3);
  EXPECT_TRUE(recording_of(History{}).calls.empty());
}

SweepMatrix matrix_of(std::vector<SweepEnd> ends) {
  SweepMatrix matrix;
  matrix.calls = 10;
  matrix.counted = 10;
  for (const SweepEnd end : ends) {
    SweepRow row;
    row.cells[SweepColumn::tree].end = end;
    matrix.rows.push_back(row);
  }
  return matrix;
}

TEST(SweepVerdict, FindingsOutweighWhatCouldNotBeTold) {
  using enum SweepEnd;
  EXPECT_EQ(verdict_of(matrix_of({recovered, recovered})), SweepVerdict::pass);
  for (const SweepEnd end : {hang, failed, torn}) {
    SweepMatrix matrix = matrix_of({recovered, inconclusive, end, not_run});
    matrix.counted = 9;
    matrix.downgrades = {"io_uring was used by ld"};
    EXPECT_EQ(verdict_of(matrix), SweepVerdict::findings);
  }
  for (const SweepEnd end : {inconclusive, not_run, not_applicable}) {
    EXPECT_EQ(verdict_of(matrix_of({recovered, end})), SweepVerdict::inconclusive) << name_of(end);
  }
  EXPECT_EQ(verdict_of(matrix_of({})), SweepVerdict::inconclusive) << "nothing was swept";
  SweepMatrix beside = matrix_of({recovered});
  beside.rows[0].cells[SweepColumn::builder_orphan_held].end = not_applicable;
  EXPECT_EQ(verdict_of(beside), SweepVerdict::pass);
  SweepMatrix miscounted = matrix_of({recovered});
  miscounted.counted = 11;
  EXPECT_EQ(verdict_of(miscounted), SweepVerdict::inconclusive);
  miscounted.asked_again = {"stat lock: 1 and 2"};
  EXPECT_EQ(verdict_of(miscounted), SweepVerdict::pass) << "as often as it takes";
  miscounted.miscounted = {"write e.o: 1 and 2"};
  EXPECT_EQ(verdict_of(miscounted), SweepVerdict::inconclusive);
  SweepMatrix cancelled = matrix_of({recovered});
  cancelled.miscounted = {"unlink lock: 0 and 1", "write e.o: 2 and 1"};
  EXPECT_EQ(verdict_of(cancelled), SweepVerdict::inconclusive) << "the sums agree";
  SweepMatrix downgraded = matrix_of({recovered});
  downgraded.downgrades = {"io_uring was used by ld"};
  EXPECT_EQ(verdict_of(downgraded), SweepVerdict::inconclusive);
}

TEST(SweepVerdict, NothingOutweighsAMismatch) {
  SweepMatrix matrix = matrix_of({SweepEnd::hang});
  matrix.mismatches = {"after create lock: recovered from a snapshot, hang after the real kill"};
  EXPECT_EQ(verdict_of(matrix), SweepVerdict::inconclusive);
  matrix.unmet = {{0, SweepColumn::tree, "after create lock", "recovered", "hang"}};
  EXPECT_EQ(verdict_of(matrix), SweepVerdict::inconclusive);
}

TEST(SweepNames, AreDistinct) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(SweepEnd::not_run); ++i) seen.insert(name_of(static_cast<SweepEnd>(i)));
  for (int i = 0; i <= static_cast<int>(SweepColumn::builder_orphan_held); ++i) {
    seen.insert(name_of(static_cast<SweepColumn>(i)));
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(name_of(SweepEnd::not_run), "not_run");
  EXPECT_EQ(name_of(SweepColumn::builder_orphan_held), "builder_orphan_held");
  EXPECT_EQ(name_of(static_cast<SweepEnd>(99)), "unknown");
}

}  // namespace
}  // namespace jitrace
