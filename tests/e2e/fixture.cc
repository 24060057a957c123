#include "e2e/fixture.h"

#include <algorithm>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "support/tree_digest.h"

namespace jitrace::test {

void E2eTest::SetUp() {
  auto directory = TempDir::create(testing::TempDir(), "jitrace-e2e-");
  ASSERT_TRUE(directory) << directory.error().message();
  directory_.emplace(std::move(*directory));
  root_ = directory_->path();
  marker_ = "JITRACE_E2E=" + hex(random_bits());
  for (const char* name : {"home/.cache/torch_extensions/py311/ext/ext.so", "home/.deep_gemm/cache/kernel.cubin",
                           "home/.triton/cache/a/b.json", "home/.nv/ComputeCache/index", "home/.bashrc", "tmp/mine.txt",
                           "cache/mine.txt", "cache/torch/lock", "work/notes.txt"}) {
    put(name, std::string("the user's: ") + name + "\n");
  }
  before_ = user_files();
}

void E2eTest::TearDown() {
  expect_nothing_left();
  expect_user_files_untouched();
  if (HasFailure()) leftovers().kill_processes();
}

std::map<std::string, std::string> E2eTest::user_files() const {
  std::map<std::string, std::string> files;
  for (const char* name : {"home", "tmp", "cache"}) {
    for (const auto& [path, digest] : tree_digest(at(name))) files[std::string(name) + "/" + path] = digest;
  }
  files["work/notes.txt"] = tree_digest(at("work"))["notes.txt"];
  return files;
}

void E2eTest::expect_user_files_untouched() const {
  const auto now_there = user_files();
  for (const auto& [path, digest] : before_) {
    const auto found = now_there.find(path);
    if (found == now_there.end()) ADD_FAILURE() << "the user's " << path << " is gone";
    else EXPECT_EQ(found->second, digest) << "the user's " << path << " was changed";
  }
  for (const auto& [path, digest] : now_there) EXPECT_TRUE(before_.contains(path)) << path << " was left behind";
}

void E2eTest::expect_nothing_left(const std::vector<std::string>& mounts) const {
  EXPECT_EQ(lines_of(leftovers().wait_for_processes(seconds(20))), "") << "these processes are left";
  EXPECT_EQ(lines_of(leftovers().locks()), "") << "these locks are held";
  EXPECT_EQ(lines_of(leftovers().mounts(mounts)), "") << "these are mounted";
  EXPECT_EQ(lines_of(caches_in(cache())), "") << "these caches are left";
}

std::string E2eTest::put(const std::string& name, const std::string& content, unsigned mode) const {
  const std::string path = at(name);
  EXPECT_TRUE(make_dirs(parent_of(path)));
  EXPECT_TRUE(write_file(path, content, mode));
  return path;
}

Call E2eTest::call(std::vector<std::string> arguments, const std::vector<std::string>& environment) const {
  Call call;
  call.program = program_;
  call.arguments = std::move(arguments);
  call.directory = at("work");
  call.environment = {"HOME=" + at("home"), "TMPDIR=" + at("tmp"), "XDG_CACHE_HOME", "NO_COLOR=1", marker_};
  call.environment.insert(call.environment.end(), environment.begin(), environment.end());
  return call;
}

Ran E2eTest::run(std::vector<std::string> arguments, const std::vector<std::string>& environment) const {
  return start(std::move(arguments), environment).finish();
}

Driver E2eTest::start(std::vector<std::string> arguments, const std::vector<std::string>& environment) const {
  auto driver = Driver::start(call(std::move(arguments), environment));
  if (!driver) ADD_FAILURE() << driver.error().message();
  return std::move(driver).value();
}

std::string quick_scenario(const std::string& more, const std::string& workload) {
  return "[scenario]\nname = \"quick\"\n"
         "[workload]\nkernels = [\"axpy\"]\ntoolchains = [\"fake\"]\nworkers = 2\ntrials = 1\nwatchdog_s = 20\n" + workload +
         "\n[[subject]]\npreset = \"torch-flock\"\n" + more;
}

std::string lines_of(const std::vector<std::string>& lines) { return join_text(lines, "\n"); }

std::vector<std::string> wide_lines(const std::string& text, std::size_t columns) {
  std::vector<std::string> wide;
  for (const std::string& line : split(text, '\n')) {
    std::size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    const std::size_t begin = line.find_first_not_of(' ');
    const bool one_word = begin != std::string::npos && line.find(' ', begin) == std::string::npos;
    if (width > columns && !one_word) wide.push_back(line);
  }
  return wide;
}

int line_count(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace jitrace::test
