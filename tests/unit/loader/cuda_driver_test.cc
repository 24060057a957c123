#include "loader/cuda_driver.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "loader/loader.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace jitrace {
namespace {

// Declared by hand, called through a pointer: a slip would be a crash on the one machine that nobody tests on. An enum
// of the header is an int to the calling convention, so only what is behind the pointers is compared one by one.
template <class T>
using Plain = std::conditional_t<std::is_enum_v<T>, int, T>;
template <class T>
struct PlainPointer { using type = Plain<T>; };
template <class T>
struct PlainPointer<T*> { using type = std::conditional_t<std::is_enum_v<T>, int*, T*>; };

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class... Ours, class R, class... Theirs>
struct SameCall<int(Ours...), R(Theirs...)> : std::bool_constant<sizeof(R) == sizeof(int)> {
  static_assert((std::is_same_v<Ours, typename PlainPointer<Theirs>::type> && ...));
};
#define EXPECT_SAME_CALL(member, function) \
  static_assert(SameCall<std::remove_pointer_t<decltype(CudaDriver::member)>, decltype(function)>::value)

EXPECT_SAME_CALL(init, cuInit);
EXPECT_SAME_CALL(device_count, cuDeviceGetCount);
EXPECT_SAME_CALL(device_get, cuDeviceGet);
EXPECT_SAME_CALL(device_attribute, cuDeviceGetAttribute);
EXPECT_SAME_CALL(retain_context, cuDevicePrimaryCtxRetain);
EXPECT_SAME_CALL(set_context, cuCtxSetCurrent);
EXPECT_SAME_CALL(module_load, cuModuleLoad);
EXPECT_SAME_CALL(module_unload, cuModuleUnload);
EXPECT_SAME_CALL(module_function, cuModuleGetFunction);
EXPECT_SAME_CALL(allocate, cuMemAlloc);
EXPECT_SAME_CALL(release, cuMemFree);
EXPECT_SAME_CALL(copy_in, cuMemcpyHtoD);
EXPECT_SAME_CALL(copy_out, cuMemcpyDtoH);
EXPECT_SAME_CALL(launch, cuLaunchKernel);
#if CUDA_VERSION >= 12000
EXPECT_SAME_CALL(library_load, cuLibraryLoadFromFile);
EXPECT_SAME_CALL(library_unload, cuLibraryUnload);
EXPECT_SAME_CALL(library_kernel_count, cuLibraryGetKernelCount);
EXPECT_SAME_CALL(library_kernels, cuLibraryEnumerateKernels);
EXPECT_SAME_CALL(kernel_function, cuKernelGetFunction);
#endif
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75 && CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);

}  // namespace
}  // namespace jitrace
#endif

namespace jitrace {
namespace {

TEST(CudaDriver, SaysWhyItCannotBeUsed) {
  const Result<CudaDriver> driver = CudaDriver::open();
  const std::vector<LoaderProbe> probes = find_loaders();
  ASSERT_EQ(probes.front().name, "cuda");
  EXPECT_EQ(probes.front().usable, static_cast<bool>(driver));
  EXPECT_FALSE(probes.front().reason.empty());
  if (!driver) {
    const auto loader = make_loader({.kind = "cuda", .device = "0", .kernel = "axpy", .decisions = {}});
    ASSERT_FALSE(loader);
    EXPECT_EQ(loader.error().message(), probes.front().reason);
  }
}

}  // namespace
}  // namespace jitrace
