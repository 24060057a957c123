// The cuda loader against a stub of the driver: codes, counts and numbers reach the result, and workers spread over devices.
// What a real driver answers is measured by tests/gpu/run.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "cubin_builder.h"
#include "loader/loader.h"

namespace jitrace {
namespace {

using ::testing::HasSubstr;

class CudaLoader : public ::testing::Test {
 protected:
  // The stub carries the driver's soname: once it is in the process, it is what dlopen("libcuda.so.1") finds. So this is a
  // test program of its own.
  static void SetUpTestSuite() { stub_ = ::dlopen(JITRACE_STUB_DRIVER, RTLD_NOW | RTLD_GLOBAL); }

  void SetUp() override { ASSERT_NE(stub_, nullptr) << ::dlerror(); }

  static LoaderOptions options(LoadApi api) { return {.kind = "cuda", .device = {}, .kernel = "axpy", .api = api, .decisions = {}}; }
  LoadResult load(const std::string& content, LoadApi api = LoadApi::library) {
    const std::string path = join(dir_.path(), "kernel.cubin");
    EXPECT_TRUE(write_file(path, content));
    auto loader = make_loader(options(api));
    EXPECT_TRUE(loader) << (loader ? "" : loader.error().message());
    return (*loader)->load(path);
  }
  static int device_of(const std::string& device, int index) {
    LoaderOptions wanted = options(LoadApi::library);
    wanted.device = device;
    wanted.index = index;
    const auto loader = make_loader(wanted);
    return loader ? reinterpret_cast<int (*)()>(::dlsym(stub_, "stub_current_device"))() : -1;
  }

  static void* stub_;
  TempDir dir_ = *TempDir::create(::testing::TempDir(), "cuda");
};
void* CudaLoader::stub_ = nullptr;

TEST_F(CudaLoader, RightNumbersAreALoad) {
  const LoadResult result = load("right");
  EXPECT_EQ(result.code, LoadCode::ok) << result.message;
  EXPECT_FALSE(result.simulated);
  EXPECT_EQ(result.bytes, "right");
}

TEST_F(CudaLoader, WrongAndMissingNumbersAreNot) {
  EXPECT_EQ(load("wrong").code, LoadCode::wrong_numbers);
  EXPECT_THAT(load("wrong").message, HasSubstr("value 1000 is -1"));
  EXPECT_EQ(load("silent").code, LoadCode::wrong_numbers);
}

TEST_F(CudaLoader, TheDriversCodeIsTheResult) {
  EXPECT_EQ(load("code 200").code, LoadCode::invalid_image);
  EXPECT_EQ(load("code 209").code, LoadCode::no_binary_for_gpu);
  EXPECT_EQ(load("kernels 2").code, LoadCode::wrong_kernel_count);
  auto loader = make_loader(options(LoadApi::library));
  ASSERT_TRUE(loader);
  const LoadResult missing = (*loader)->load(join(dir_.path(), "none.cubin"));
  EXPECT_EQ(missing.code, LoadCode::file_not_found);
  EXPECT_EQ(missing.message, "301 (CUDA_ERROR_FILE_NOT_FOUND, file not found)");
  EXPECT_EQ(missing.bytes, "");
}

TEST_F(CudaLoader, TheSymbolPassComesBeforeTheModule) {
  EXPECT_EQ(load("right", LoadApi::symbols_then_module).code, LoadCode::cuobjdump_failed);
  EXPECT_EQ(load(build_cubin("sm_90a", {"axpy", "b"}), LoadApi::symbols_then_module).code, LoadCode::wrong_kernel_count);
  EXPECT_EQ(load(build_cubin("sm_90a", {"axpy"}), LoadApi::symbols_then_module).code, LoadCode::ok);
}

TEST_F(CudaLoader, WorkersSpreadOverTheDevicesThatFit) {
  for (int index = 0; index < 6; ++index) {
    EXPECT_EQ(device_of("", index), index % 3);
    EXPECT_EQ(device_of("sm_90a", index), index % 2 == 0 ? 0 : 2);
    EXPECT_EQ(device_of("sm_100a", index), 1);
    EXPECT_EQ(device_of("2", index), 2);
  }
  EXPECT_EQ(device_of("sm_80", 0), -1);
}

}  // namespace
}  // namespace jitrace
