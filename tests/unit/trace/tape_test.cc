// A real g++, as and ld: learnt in one run, replayed in the next.
#include <regex>
#include <set>

#include "unit/trace/lane_run.h"

namespace jitrace {
namespace {

class ReplayedCompiler : public ::testing::Test {
 protected:
  ReplayedCompiler() : run_({"sh", "-c", build}) {
    EXPECT_TRUE(make_dirs(run_.path("src")));
    EXPECT_TRUE(write_file(run_.path("src/k.h"), "int answer() { return 42; }\n"));
    EXPECT_TRUE(write_file(run_.path("src/k.cc"),
                           "#include <string>\n#include \"k.h\"\n"
                           "int use(const std::string& s) { return answer() + static_cast<int>(s.size()); }\n"));
    EXPECT_TRUE(make_dirs(run_.path("tapes")));
    run_.plan.directory = run_.path("src");
  }

  static constexpr const char* build = "g++ -fPIC -g -c k.cc -o {cache}/k.o && g++ -shared {cache}/k.o -o {cache}/k.so";

  void empty_cache() {
    ASSERT_TRUE(remove_tree(run_.plan.cache));
    ASSERT_TRUE(make_dirs(run_.plan.cache));
  }
  void learn() {
    empty_cache();
    run_.plan.work = TraceWork::record;
    run_.plan.tapes = run_.path("tapes");
    ASSERT_TRUE(run_.run());
    ASSERT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
  }
  // A fresh process on an empty cache, under the letter B.
  void play() {
    empty_cache();
    run_.restored("");
    run_.plan.tapes = run_.path("tapes");
    ASSERT_TRUE(run_.run());
  }
  // The programs that a tape stood in for, by their last name.
  std::multiset<std::string> replayed() const {
    std::multiset<std::string> names;
    for (const Event& event : run_.all(EventKind::process_started)) {
      const std::string role = event.text.substr(0, event.text.find('|'));
      if (event.b == 1) names.insert(base_of(role));
    }
    return names;
  }
  // By role, which begins with no letter, so that rounds can be compared; in the order in which each made them.
  std::map<std::string, std::vector<std::string>> by_role() const {
    std::map<std::string, std::vector<std::string>> calls;
    for (const std::string& line : run_.calls()) {
      const std::size_t at = line.find(": ");
      calls[line.substr(1, at - 1)].push_back(line.substr(at + 2));
    }
    return calls;
  }
  std::string why_not() const {
    const auto text = read_file(run_.path("tapes/refused"));
    return text ? *text : std::string();
  }
  std::string in_cache(const std::string& name) const { return read_file(run_.in_cache(name)).value(); }

  LaneRun run_;
};

TEST_F(ReplayedCompiler, MakesTheCallsOfTheCompilerAndLeavesItsBytes) {
  ASSERT_TRUE(run_.run());
  const auto without = by_role();
  ASSERT_TRUE(without.contains("/g++/as")) << ::testing::PrintToString(run_.calls());
  const std::string object = in_cache("k.o"), library = in_cache("k.so");

  learn();
  EXPECT_TRUE(replayed().empty());
  EXPECT_EQ(by_role(), without) << "learning changes nothing";
  EXPECT_EQ(why_not(), "");

  play();
  EXPECT_EQ(replayed(), (std::multiset<std::string>{"as", "cc1plus", "ld"}));
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
  EXPECT_EQ(by_role(), without);
  EXPECT_EQ(in_cache("k.o"), object);
  EXPECT_EQ(in_cache("k.so"), library);
}

TEST_F(ReplayedCompiler, AnotherHeaderIsAMissAndTheRealCompilerRuns) {
  learn();
  ASSERT_TRUE(write_file(run_.path("src/k.h"), "int answer() { return 43; }\n"));
  play();
  EXPECT_TRUE(replayed().empty()) << "another source is another assembly, and that another object";
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
  play();
  EXPECT_EQ(replayed().size(), 3u) << "a miss is learnt from";

  // Content counts, not times.
  ASSERT_TRUE(write_file(run_.path("src/k.h"), "int answer() { return 42; }\n"));
  play();
  EXPECT_EQ(replayed().size(), 3u);
}

TEST_F(ReplayedCompiler, AHeaderThatComesToLieBeforeTheOneThatWasReadIsAMiss) {
  learn();
  ASSERT_TRUE(
      write_file(run_.path("src/string"), "namespace std { struct string { int size() const { return 0; } }; }\n"));
  run_.plan.command = {"sh", "-c", "g++ -I. -fPIC -g -c k.cc -o {cache}/k.o"};
  ASSERT_TRUE(remove_file(run_.path("src/string")));
  learn();
  play();
  ASSERT_EQ(replayed().count("cc1plus"), 1u);
  ASSERT_TRUE(
      write_file(run_.path("src/string"), "namespace std { struct string { int size() const { return 0; } }; }\n"));
  play();
  EXPECT_EQ(replayed().count("cc1plus"), 0u);
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
}

TEST_F(ReplayedCompiler, AnOutputThatIsThereAlreadyIsAnotherStateForTheLinker) {
  learn();
  empty_cache();
  ASSERT_TRUE(write_file(run_.restored("k.so"), "what a kill left"));
  run_.plan.tapes = run_.path("tapes");
  ASSERT_TRUE(run_.run());
  EXPECT_EQ(replayed(), (std::multiset<std::string>{"as", "cc1plus"})) << "ld removes what lies there: other calls";
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
}

TEST_F(ReplayedCompiler, GoesOnWritingWhenItsDriverIsKilled) {
  learn();
  const auto recorded = by_role().at("/g++/as");
  empty_cache();
  run_.plan.restore.clear();
  run_.plan.work = TraceWork::kill;
  run_.plan.who = Victim::builder;
  run_.plan.order = OrphanOrder::first;
  run_.plan.step = StepName{"A/g++/as", recorded.front(), 1, Side::after};
  ASSERT_TRUE(run_.run());
  ASSERT_EQ(run_.all(EventKind::fault_fired).size(), 1u) << run_.history.text();
  EXPECT_GE(replayed().count("as"), 1u);
  bool adopted = false;
  for (const Event& event : run_.all(EventKind::process_adopted)) adopted |= event.text == "A/g++/as";
  EXPECT_TRUE(adopted) << run_.history.text();
  std::vector<std::string> made;
  for (const std::string& line : run_.calls()) {
    if (line.starts_with("A/g++/as: ")) made.push_back(line.substr(line.find(": ") + 2));
  }
  EXPECT_EQ(made, recorded) << "all of it, though nobody waits for it";
}

TEST_F(ReplayedCompiler, WhereACallAnswersWithAnErrorTheRealOneRuns) {
  learn();
  empty_cache();
  run_.plan.restore.clear();
  run_.plan.work = TraceWork::answer;
  run_.plan.error = ENOSPC;
  run_.plan.step = StepName{"A/g++/as", "write k.o", 1, Side::after};
  ASSERT_TRUE(run_.run());
  EXPECT_EQ(run_.all(EventKind::fault_fired).size(), 1u) << run_.history.text();
  EXPECT_TRUE(replayed().empty()) << "how as takes a full disk is for as to show";
}

TEST_F(ReplayedCompiler, OfAFailedCompilerThereIsNone) {
  ASSERT_TRUE(write_file(run_.path("src/k.h"), "this is no C++\n"));
  empty_cache();
  run_.plan.tapes = run_.path("tapes");
  ASSERT_TRUE(run_.run());
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::failed));
  EXPECT_THAT(why_not(), HasSubstr("cc1plus: it ended with "));
  ASSERT_TRUE(write_file(run_.path("src/k.h"), "int answer() { return 42; }\n"));
  play();
  EXPECT_TRUE(replayed().empty());
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
}

TEST_F(ReplayedCompiler, AnotherDirectoryForTemporaryFilesIsAnotherLanes) {
  learn();
  const std::string object = in_cache("k.o");
  ASSERT_TRUE(remove_tree(run_.path("scratch")));
  run_.scratch = "scr4tch";
  ASSERT_TRUE(make_dirs(run_.path("scr4tch")));
  play();
  EXPECT_EQ(replayed(), (std::multiset<std::string>{"as", "cc1plus", "ld"}));
  EXPECT_EQ(in_cache("k.o"), object);
}

TEST_F(ReplayedCompiler, NvccIsReplayedByItsStages) {
  if (::system("command -v nvcc >/dev/null") != 0) GTEST_SKIP() << "no nvcc on PATH";
  ASSERT_TRUE(write_file(run_.path("src/k.cu"), "__global__ void k(float* x) { x[threadIdx.x] *= 2; }\n"));
  run_.plan.command = {"nvcc", "-c", "-arch=native", "k.cu", "-o", "{cache}/k.o"};
  run_.plan.command[2] = "-arch=sm_90";
  ASSERT_TRUE(run_.run());
  ASSERT_THAT(run_.outcomes(), ElementsAre(Outcome::served));
  const auto without = by_role();
  learn();
  EXPECT_EQ(by_role(), without);
  play();
  const Nanoseconds quick = run_.took;
  EXPECT_EQ(by_role(), without);
  EXPECT_THAT(run_.outcomes(), ElementsAre(Outcome::served)) << read_file(run_.path("scratch/output-B")).value();
  const auto names = replayed();
  for (const char* name : {"cicc", "ptxas", "fatbinary", "cudafe++", "cc1plus", "as"})
    EXPECT_GE(names.count(name), 1u) << name << "\n" << why_not();
  RecordProperty("milliseconds", static_cast<int>(to_ms(quick)));
}

}  // namespace
}  // namespace jitrace
