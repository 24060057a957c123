// Same scenario and seed: the same plans, byte by byte; another seed, another plan.

#include "base/file.h"
#include "e2e/fixture.h"

namespace jitrace::test {
namespace {

class Plans : public E2eTest {};

TEST_F(Plans, DryRunIsTheSameTwiceAndMakesNothing) {
  const auto before = list_tree(at("work"));
  const Ran first = run({"run", smoke, "--dry-run"});
  const Ran second = run({"run", smoke, "--dry-run"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_NE(first.out.find("jitrace plan 1\n"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("cell torch-baton/kill-compile/fake/sm_90a\n"), std::string::npos) << first.out;
  EXPECT_EQ(list_tree(at("work")), before);
}

TEST_F(Plans, TheSeedDecides) {
  const Ran one = run({"run", smoke, "--dry-run", "--seed", "1"});
  const Ran two = run({"run", smoke, "--dry-run", "--seed", "2"});
  EXPECT_EQ(one.out, run({"run", smoke, "--dry-run"}).out);
  EXPECT_NE(one.out, two.out);
  // Fewer cells change no plan of the others.
  const Ran part = run({"run", smoke, "--dry-run", "--seed", "2", "--strategy", "sound"});
  EXPECT_NE(two.out.find(part.out), std::string::npos);
}

TEST_F(Plans, WhatRanIsWhatWasPlanned) {
  const std::string path = scenario(quick_scenario("[[fault]]\nname = \"kill\"\nwho = \"builder\"\nat = \"compile\"\nwhat = \"SIGKILL\"\n"
                                                   "[[expect]]\nrecovered = false\n"));
  const Ran dry = run({"run", path, "--dry-run"});
  const Ran ran = run({"run", path, "--out", out(), "--seed", "1"});
  ASSERT_EQ(ran.code, 1) << ran.err << ran.out;
  const auto history = read_file(out() + "/cells/torch-flock+kill+fake+sm_90a/trial-1.history");
  ASSERT_TRUE(history) << history.error().message();
  std::string planned;
  for (const char c : dry.out) planned += c == '\n' ? std::string("\\n") : std::string(1, c);
  // The last line break is the printer's.
  while (planned.ends_with("\\n")) planned.resize(planned.size() - 2);
  EXPECT_NE(history->find(planned), std::string::npos) << dry.out << *history;
}

}  // namespace
}  // namespace jitrace::test
