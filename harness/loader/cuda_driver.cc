#include "loader/cuda_driver.h"

#include <dlfcn.h>

#include <utility>

namespace jitrace {
namespace {

constexpr int attribute_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int attribute_minor = 76;

template <class Function>
bool look_up(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

bool look_up_all(CudaDriver& driver) {
  void* handle = driver.handle.get();
  look_up(handle, "cuLibraryLoadFromFile", driver.library_load);
  look_up(handle, "cuLibraryUnload", driver.library_unload);
  look_up(handle, "cuLibraryGetKernelCount", driver.library_kernel_count);
  look_up(handle, "cuLibraryEnumerateKernels", driver.library_kernels);
  look_up(handle, "cuKernelGetFunction", driver.kernel_function);
  return look_up(handle, "cuInit", driver.init) && look_up(handle, "cuDriverGetVersion", driver.driver_version) &&
         look_up(handle, "cuDeviceGetCount", driver.device_count) && look_up(handle, "cuDeviceGet", driver.device_get) &&
         look_up(handle, "cuDeviceGetAttribute", driver.device_attribute) &&
         look_up(handle, "cuDevicePrimaryCtxRetain", driver.retain_context) &&
         look_up(handle, "cuCtxSetCurrent", driver.set_context) &&
         look_up(handle, "cuCtxSynchronize", driver.synchronize) && look_up(handle, "cuModuleLoad", driver.module_load) &&
         look_up(handle, "cuModuleUnload", driver.module_unload) &&
         look_up(handle, "cuModuleGetFunction", driver.module_function) &&
         look_up(handle, "cuGetErrorName", driver.error_name) &&
         look_up(handle, "cuGetErrorString", driver.error_string) && look_up(handle, "cuMemAlloc_v2", driver.allocate) &&
         look_up(handle, "cuMemFree_v2", driver.release) && look_up(handle, "cuMemcpyHtoD_v2", driver.copy_in) &&
         look_up(handle, "cuMemcpyDtoH_v2", driver.copy_out) && look_up(handle, "cuLaunchKernel", driver.launch);
}

}  // namespace

Result<CudaDriver> CudaDriver::open() {
  CudaDriver driver;
  // The driver's threads and contexts outlive any handle on it, so its code must never be unmapped.
  driver.handle = {::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), &::dlclose};
  if (!driver.handle) return plain_error("open libcuda.so.1", "no NVIDIA driver here; use the elf loader");
  if (!look_up_all(driver)) return plain_error("use libcuda.so.1", "it lacks an entry point");
  if (const Code code = driver.init(0); code != 0) return plain_error("start the CUDA driver", driver.describe(code));
  int devices = 0;
  if (driver.device_count(&devices) != 0 || devices == 0) return plain_error("use CUDA", "the driver sees no device");
  return driver;
}

Result<void> CudaDriver::use(Device device) const {
  Context context = nullptr;
  if (const Code code = retain_context(&context, device); code != 0) return plain_error("make a CUDA context", describe(code));
  if (const Code code = set_context(context); code != 0) return plain_error("set the CUDA context", describe(code));
  return {};
}

std::string CudaDriver::describe(Code code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(code, &name) != 0 || name == nullptr) return std::to_string(code);
  if (error_string(code, &text) != 0 || text == nullptr) text = "";
  return std::to_string(code) + " (" + name + ", " + text + ")";
}

std::string CudaDriver::arch_of(Device device) const {
  int major = 0;
  int minor = 0;
  if (device_attribute(&major, attribute_major, device) != 0) return {};
  if (device_attribute(&minor, attribute_minor, device) != 0) return {};
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

}  // namespace jitrace
