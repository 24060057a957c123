// Compilers that are missing, fail or hang: a skip or a stalled trial with one clear sentence, never a jitrace that hangs.

#include <sched.h>
#include <sys/mount.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "e2e/fixture.h"
#include "e2e/read_report.h"
#include "support/private_mount.h"

namespace jitrace::test {
namespace {

class Compiler : public E2eTest {
 protected:
  // A toolkit as NVIDIA lays one out, whose nvcc answers --version and otherwise does what `script` says.
  std::string toolkit(const std::string& script) const {
    put("toolkit/nvvm/bin/cicc", "#!/bin/sh\nexit 0\n", 0755);
    put("toolkit/bin/ptxas", "#!/bin/sh\nexit 0\n", 0755);
    return put("toolkit/bin/nvcc",
               "#!/bin/sh\ncase \"$*\" in\n*--version*) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0;;\n"
               "*--dryrun*) exit 0;;\nesac\n" + script + "\n",
               0755);
  }

  static std::string two_cells() {
    return "[scenario]\nname = \"nvcc\"\n[workload]\nkernels = [\"axpy\"]\ntoolchains = [\"nvcc\"]\nworkers = 2\ntrials = 1\n"
           "watchdog_s = 2\nloader = \"elf\"\n[[subject]]\npreset = \"deepgemm\"\n[[subject]]\npreset = \"deepgemm-flock\"\n";
  }

  // Runs it and holds that every cell was skipped for a reason that says this.
  Ran skipped(const std::vector<std::string>& arguments, const std::vector<std::string>& said) {
    std::vector<std::string> all = {"run", scenario(two_cells()), "--out", out()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = run(all);
    EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
    const nlohmann::json report = read_report(out());
    EXPECT_EQ(report["verdict"], "inconclusive");
    EXPECT_EQ(report["cells"].size(), 2u);
    for (const nlohmann::json& cell : report["cells"]) {
      const std::string reason = cell["skipped"].is_null() ? "none" : cell["skipped"]["reason"].get<std::string>();
      for (const std::string& part : said) EXPECT_NE(reason.find(part), std::string::npos) << part << " is not in: " << reason;
    }
    return ran;
  }

  static bool has_gcc() {
    Command command;
    command.argv = {"g++", "-dumpversion"};
    return run_to_end(command).has_value();
  }
};

TEST_F(Compiler, NvccThatIsMissingByName) { skipped({"--nvcc", at("nowhere/nvcc")}, {at("nowhere/nvcc"), "is no program"}); }

TEST_F(Compiler, NvccThatIsNowhere) {
  // One that lies where it is looked for without PATH is hidden from this process and what it starts, from nobody else.
  std::optional<PrivateMount> hidden;
  if (exists("/usr/local/cuda/bin/nvcc")) {
    const bool apart = ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (!apart) GTEST_SKIP() << "there is an nvcc, and to hide it needs root";
    auto mount = PrivateMount::create("/usr/local/cuda/bin", "size=64k");
    ASSERT_TRUE(mount) << mount.error().message();
    hidden.emplace(std::move(*mount));
  }
  const Ran ran = run({"run", scenario(two_cells()), "--out", out()}, {"PATH=" + at("nowhere"), "CUDA_HOME"});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const std::string reason = read_report(out())["cells"][0]["skipped"]["reason"];
  EXPECT_NE(reason.find("--nvcc"), std::string::npos) << reason;
  if (hidden) {
    EXPECT_TRUE(hidden->unmount());
  }
}

TEST_F(Compiler, TheNextOneRunsAndIsNamed) {
  std::string text = two_cells();
  text.replace(text.find("[\"nvcc\"]"), 8, "[\"nvcc\", \"fake\"]");
  const Ran ran = run({"run", scenario(text), "--out", out(), "--nvcc", at("nowhere/nvcc")});
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_TRUE(read_report(out())["cells"][0]["toolchain"].get<std::string>().starts_with("fake"));
}

TEST_F(Compiler, NvccThatIsNoNvcc) {
  skipped({"--nvcc", put("false", "#!/bin/sh\nexit 3\n", 0755)}, {at("false"), "exit 3"});
}

TEST_F(Compiler, NvccThatHangsWhenAsked) {
  const std::string program = put("hangs", "#!/bin/sh\nsleep 1000 &\nsleep 1000\n", 0755);
  const Ran ran = skipped({"--nvcc", program}, {program, "did not end within 10 s"});
  EXPECT_LT(ran.took, seconds(60));
}

TEST_F(Compiler, NvccThatFails) {
  if (!has_gcc()) GTEST_SKIP() << "no g++: a toolkit's shadow needs one";
  const std::string program = toolkit("echo 'nvcc fatal   : license expired' >&2; exit 3");
  skipped({"--nvcc", program}, {program, "exit 3", "nvcc fatal   : license expired"});
}

TEST_F(Compiler, NvccThatHangsWhenItCompiles) {
  if (!has_gcc()) GTEST_SKIP() << "no g++: a toolkit's shadow needs one";
  const std::string program = toolkit("echo tried >> " + at("tries") + "\nsleep 1000 &\nsleep 1000");
  const Ran ran = skipped({"--nvcc", program}, {program, "did not end within 2 s"});
  EXPECT_LT(ran.took, seconds(60));
  // Once is enough to know: the second cell does not wait again.
  EXPECT_EQ(*read_file(at("tries")), "tried\n");
}

TEST_F(Compiler, NvccThatHangsInATrialIsStalledAndNoHang) {
  if (!has_gcc()) GTEST_SKIP() << "no g++: a toolkit's shadow needs one";
  // The reference compile speaks to no board; a trial's does.
  const std::string program = toolkit("[ -n \"$JITRACE_BOARD\" ] && sleep 1000\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
                                      "echo cubin > \"$out\"");
  const Ran ran = run({"run", scenario(two_cells()), "--out", out(), "--nvcc", program, "--strategy", "deepgemm-flock"});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  EXPECT_LT(ran.took, seconds(60));
  const nlohmann::json cell = read_report(out())["cells"][0];
  EXPECT_EQ(cell["inconclusive"], 1) << cell.dump(1);
  EXPECT_FALSE(cell["findings"].contains("hang")) << cell.dump(1);
  EXPECT_NE(cell["inconclusive_reasons"].dump().find("stalled"), std::string::npos) << cell.dump(1);
}

TEST_F(Compiler, AKernelThatDoesNotCompile) {
  put("work/kernels/axpy.cu", "#error this kernel is not for compilers\n");
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out()});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const std::string reason = read_report(out())["cells"][0]["skipped"]["reason"];
  EXPECT_NE(reason.find("this kernel is not for compilers"), std::string::npos) << reason;
}

TEST_F(Compiler, AKernelThatDoesNotCompileAsHostCode) {
  if (!has_gcc()) GTEST_SKIP() << "no g++ here";
  put("work/kernels/axpy.cu", "#error this kernel is not for compilers\n");
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out(), "--toolchain", "cxx"});
  EXPECT_EQ(ran.code, 2) << ran.err << ran.out;
  const std::string reason = read_report(out())["cells"][0]["skipped"]["reason"];
  EXPECT_NE(reason.find("this kernel is not for compilers"), std::string::npos) << reason;
}

TEST_F(Compiler, AKernelThatIsMissing) {
  put("work/kernels/other.cu", "\n");
  const Ran ran = run({"run", scenario(quick_scenario()), "--out", out()});
  EXPECT_EQ(ran.code, 64) << ran.err << ran.out;
  EXPECT_NE(ran.err.find("unknown kernel \"axpy\"; there are other"), std::string::npos) << ran.err;
  EXPECT_FALSE(exists(out()));
}

}  // namespace
}  // namespace jitrace::test
