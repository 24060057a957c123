// A second run beside the first.

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"

namespace jitrace::test {
namespace {

class Beside : public E2eTest {};

TEST_F(Beside, TwoRunsInOneCacheDirectoryDoNotDisturbEachOther) {
  // Neither is told where to write, so both look for the first free directory at once.
  Driver one = start({"run", smoke, "--cache", cache(), "--trials", "2"});
  Driver two = start({"run", smoke, "--cache", cache(), "--trials", "2"});
  const Ran first = one.finish();
  const Ran second = two.finish();
  EXPECT_EQ(first.code, 0) << first.err << first.out;
  EXPECT_EQ(second.code, 0) << second.err << second.out;
  for (const char* name : {"work/jitrace-runs/smoke-1", "work/jitrace-runs/smoke-2"}) {
    const nlohmann::json report = read_report(at(name));
    for (const nlohmann::json& cell : report["cells"]) EXPECT_EQ(cell["trials"], 2) << name;
    EXPECT_EQ(cell_of(report, "torch-flock/none/")["builds"]["total"], 2) << name;
    EXPECT_EQ(cell_of(report, "torch-baton/kill-compile/")["findings"]["wedged"], 2) << name;
  }
  EXPECT_FALSE(exists(at("work/jitrace-runs/smoke-3")));
}

TEST_F(Beside, OnlyOneOfTwoGetsTheSameOut) {
  const std::string path = scenario(quick_scenario());
  Driver one = start({"run", path, "--out", out()});
  Driver two = start({"run", path, "--out", out()});
  const Ran first = one.finish();
  const Ran second = two.finish();
  EXPECT_EQ(std::min(first.code, second.code), 0) << first.err << second.err;
  EXPECT_EQ(std::max(first.code, second.code), 69) << first.err << second.err;
  EXPECT_EQ(read_report(out())["verdict"], "pass");
}

}  // namespace
}  // namespace jitrace::test
