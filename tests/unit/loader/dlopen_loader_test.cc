#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "loader/loader.h"
#include "process/process.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

class DlopenLoader : public ::testing::Test {
 protected:
  // A shared object whose self-check returns `code`.
  std::string build(const std::string& body) {
    const std::string source = join(dir_.path(), "a.cc");
    const std::string output = join(dir_.path(), "a.so");
    EXPECT_TRUE(write_file(source, body));
    Command command;
    command.argv = {"g++", "-shared", "-fPIC", "-o", output, source};
    const Result<Finished> finished = run_to_end(command);
    EXPECT_TRUE(finished && finished->status.is_exit(0)) << (finished ? finished->output : finished.error().message());
    return output;
  }
  LoadResult load(const std::string& path) {
    auto loader = make_loader({.kind = "dlopen", .device = {}, .kernel = {}, .decisions = {}});
    EXPECT_TRUE(loader);
    return (*loader)->load(path);
  }
  TempDir dir_ = *TempDir::create(::testing::TempDir(), "dlopen");
};

TEST_F(DlopenLoader, CallsTheSelfCheck) {
  EXPECT_EQ(load(build("extern \"C\" int jitrace_selfcheck() { return 0; }")).code, LoadCode::ok);
  EXPECT_EQ(load(build("extern \"C\" int jitrace_selfcheck() { return 1; }")).code, LoadCode::wrong_numbers);
  EXPECT_EQ(load(build("int nothing_to_check;")).code, LoadCode::ok);
  EXPECT_EQ(load(build("extern \"C\" int jitrace_selfcheck() { __builtin_trap(); }")).code, LoadCode::crashed);
}

TEST_F(DlopenLoader, ACutFileFailsAsMeasured) {
  const std::string path = build("int table[4096] = {1}; extern \"C\" int jitrace_selfcheck() { return 0; }");
  const Result<std::string> whole = read_file(path);
  ASSERT_TRUE(whole);
  ASSERT_GT(whole->size(), 16384U);
  const auto cut = [&](std::size_t size) {
    EXPECT_TRUE(write_file(path, whole->substr(0, size)));
    return load(path);
  };
  EXPECT_EQ(cut(1).code, LoadCode::too_short);
  EXPECT_THAT(cut(1).message, HasSubstr("file too short"));
  EXPECT_EQ(cut(0).code, LoadCode::too_short);
  EXPECT_EQ(cut(1024).code, LoadCode::bus_error);
  EXPECT_EQ(cut(whole->size() / 2).code, LoadCode::bus_error);
  EXPECT_EQ(cut(whole->size() - 100).code, LoadCode::ok) << "the section headers are for nobody at run time";
  EXPECT_EQ(cut(whole->size() / 2).bytes.size(), whole->size() / 2);
}

TEST_F(DlopenLoader, MissingAndForeignFilesAreToldApart) {
  const LoadResult missing = load(join(dir_.path(), "none.so"));
  EXPECT_EQ(missing.code, LoadCode::cannot_open);
  EXPECT_THAT(missing.message, HasSubstr("cannot open shared object file"));
  const std::string path = join(dir_.path(), "text.so");
  ASSERT_TRUE(write_file(path, std::string(4096, 'x')));
  EXPECT_EQ(load(path).code, LoadCode::invalid_elf);
}

}  // namespace
}  // namespace jitrace
