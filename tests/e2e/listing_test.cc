// `list` and `doctor`.

#include "base/text.h"
#include "e2e/fixture.h"

namespace jitrace::test {
namespace {

class Listing : public E2eTest {};

TEST_F(Listing, ListNamesWhatThereIsIn80Columns) {
  const Ran ran = run({"list"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(lines_of(wide_lines(ran.out, 80)), "");
  for (const char* name : {"torch-baton", "torch-flock", "msa-flock", "gptqmodel-flock", "deepgemm", "deepgemm-flock", "deepgemm-dir",
                           "daemon", "sound", "smoke.toml", "repro/msa-23.toml", "nvcc", "nvrtc", "cxx", "fake", "elf", "dlopen",
                           "cuda", "SIGKILL", "exit 137", "compile", "lock_held", "break_lock", "wedged", "two_owners"}) {
    EXPECT_NE(ran.out.find(std::string("  ") + name + " "), std::string::npos) << name << " is not in\n" << ran.out;
  }
  EXPECT_NE(ran.out.find("usable"), std::string::npos);
  EXPECT_EQ(ran.out.find("cannot be read"), std::string::npos) << ran.out;
}

TEST_F(Listing, ListSaysWhyNot) {
  const Ran ran = run({"list"}, {"PATH=" + at("nowhere"), "CUDA_HOME"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("not usable: no g++ on PATH"), std::string::npos) << ran.out;
}

TEST_F(Listing, DoctorSaysHowToGetTheRest) {
  const Ran ran = run({"doctor"}, {"PATH=" + at("nowhere"), "CUDA_HOME"});
  EXPECT_TRUE(ran.code == 0 || ran.code == 2) << ran.code;
  for (const char* said : {"apt-get install g++", "apt-get install ninja-build", "kernel", "gpus"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << " is not in\n" << ran.out;
  }
}

TEST_F(Listing, HelpAndVersion) {
  EXPECT_EQ(run({"--help"}).code, 0);
  const Ran version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("jitrace ")) << version.out;
}

}  // namespace
}  // namespace jitrace::test
