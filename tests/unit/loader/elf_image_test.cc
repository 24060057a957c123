#include "loader/elf_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "cubin_builder.h"
#include "loader/loader.h"

namespace jitrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ElfImage, WholeCubinTellsArchAndKernels) {
  const ElfImage image = read_elf_image(build_cubin("sm_90a", {"axpy"}));
  EXPECT_EQ(image.form, Input::whole);
  EXPECT_EQ(image.arch, "sm_90a");
  EXPECT_THAT(image.kernels, ElementsAre("axpy"));
}

TEST(ElfImage, EveryCutIsRecognisedForWhatItIs) {
  const std::string whole = build_cubin("sm_90a", {"axpy"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Input form = read_elf_image(std::string_view(whole).substr(0, size)).form;
    const Input expected = size == 0                  ? Input::empty
                           : size == 1                ? Input::one_byte
                           : size < sizeof(Elf64_Ehdr) ? (size < 4 ? form : Input::cut_header)
                           : whole.size() - size <= 200 ? Input::cut_tail
                                                        : Input::cut_sections;
    ASSERT_EQ(form, expected) << "cut at " << size;
    ASSERT_NE(form, Input::whole) << "cut at " << size;
  }
}

TEST(ElfImage, TextAndPtxAreToldApart) {
  EXPECT_EQ(read_elf_image("<html>not found</html>").form, Input::text);
  EXPECT_EQ(read_elf_image("//\n.version 9.0\n.target sm_90a\n.address_size 64\n").form, Input::ptx);
}

TEST(ElfImage, DamagedBytesNeverCrashTheReader) {
  const std::string whole = build_cubin("sm_90a", {"axpy", "gemm"});
  Rng rng(7);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int n = 0; n < 4; ++n) damaged[rng.below(damaged.size())] = static_cast<char>(rng.next());
    damaged.resize(rng.below(damaged.size() + 1));
    read_elf_image(damaged);
  }
}

TEST(ElfImage, ArchRunsOnItsOwnNumber) {
  EXPECT_TRUE(arch_runs_on("sm_90a", "sm_90a"));
  EXPECT_TRUE(arch_runs_on("sm_90", "sm_90a"));
  EXPECT_FALSE(arch_runs_on("sm_90a", "sm_90"));
  EXPECT_FALSE(arch_runs_on("sm_90a", "sm_100a"));
  EXPECT_FALSE(arch_runs_on("", "sm_90a"));
}

class ElfLoader : public ::testing::Test {
 protected:
  std::string put(const std::string& bytes) {
    const std::string path = join(dir_.path(), "kernel.cubin");
    EXPECT_TRUE(write_file(path, bytes));
    return path;
  }
  static LoadResult load(const std::string& path, LoadApi api) {
    auto loader = make_loader({.kind = "elf", .device = "sm_90a", .kernel = "axpy", .api = api, .decisions = {}});
    EXPECT_TRUE(loader);
    return (*loader)->load(path);
  }
  TempDir dir_ = *TempDir::create(::testing::TempDir(), "elf");
};

TEST_F(ElfLoader, MissingIs301ForTheLibraryAndCuobjdumpsForTheSymbolPass) {
  const std::string path = join(dir_.path(), "none.cubin");
  const LoadResult library = load(path, LoadApi::library);
  EXPECT_EQ(library.code, LoadCode::file_not_found);
  EXPECT_EQ(library.message, "301 (elf, simulated)");
  EXPECT_TRUE(library.simulated);
  const LoadResult symbols = load(path, LoadApi::symbols_then_module);
  EXPECT_EQ(symbols.code, LoadCode::cuobjdump_failed);
  EXPECT_THAT(symbols.message, HasSubstr("No such file or directory"));
}

TEST_F(ElfLoader, EachFormHasItsCode) {
  const std::string whole = build_cubin("sm_90a", {"axpy"});
  EXPECT_EQ(load(put(whole), LoadApi::library).code, LoadCode::ok);
  EXPECT_EQ(load(put(whole), LoadApi::library).bytes, whole);
  EXPECT_EQ(load(put(whole), LoadApi::symbols_then_module).code, LoadCode::ok);
  EXPECT_EQ(load(put(whole.substr(0, 500)), LoadApi::library).code, LoadCode::invalid_image);
  EXPECT_EQ(load(put(whole.substr(0, 500)), LoadApi::symbols_then_module).code, LoadCode::cuobjdump_failed);
  EXPECT_EQ(load(put(""), LoadApi::library).code, LoadCode::invalid_image);
  EXPECT_EQ(load(put("hello"), LoadApi::library).code, LoadCode::invalid_ptx);
  EXPECT_EQ(load(put(build_cubin("sm_100a", {"axpy"})), LoadApi::library).code, LoadCode::no_binary_for_gpu);
  const LoadResult two = load(put(build_cubin("sm_90a", {"axpy", "gemm"})), LoadApi::library);
  EXPECT_EQ(two.code, LoadCode::wrong_kernel_count);
  EXPECT_THAT(two.message, HasSubstr("expected 1 kernel, found 2"));
}

TEST(Loaders, AnUnknownOneIsAnErrorThatNamesThemAll) {
  const auto loader = make_loader({.kind = "elv", .device = {}, .kernel = {}, .decisions = {}});
  ASSERT_FALSE(loader);
  EXPECT_THAT(loader.error().message(), HasSubstr("cuda, elf, dlopen, fake"));
  EXPECT_EQ(find_loaders().size(), 4U);
}

}  // namespace
}  // namespace jitrace
