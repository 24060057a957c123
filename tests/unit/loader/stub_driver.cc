// A libcuda.so.1 with two devices and host memory, for the cuda loader's own logic where there is no driver. What the file
// to load says decides what it answers: "code N" fails so, "kernels N" has so many, "wrong" and "silent" compute badly.

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

struct Loaded {
  int kernels = 1;
  std::string behaviour;
};

int load(const char* path, Loaded*& loaded) {
  std::ifstream file(path);
  if (!file) return 301;
  std::string word;
  int number = 0;
  file >> word >> number;
  if (word == "code") return number;
  loaded = new Loaded{word == "kernels" ? number : 1, word};
  return 0;
}

int current = -1;

}  // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetCount(int* count) { *count = 3; return 0; }
int cuDeviceGet(int* device, int index) { *device = index; return 0; }
// Devices 0 and 2 are 9.0, device 1 is 10.0.
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? (device == 1 ? 10 : 9) : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { *context = reinterpret_cast<void*>(device + 1L); return 0; }
int cuCtxSetCurrent(void* context) { current = static_cast<int>(reinterpret_cast<long>(context)) - 1; return 0; }
int stub_current_device() { return current; }
int cuCtxSynchronize() { return 0; }
int cuModuleLoad(void** module, const char* path) { return load(path, *reinterpret_cast<Loaded**>(module)); }
int cuModuleUnload(void* module) { delete static_cast<Loaded*>(module); return 0; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return std::string(name) == "axpy" ? 0 : 500;
}
int cuLibraryLoadFromFile(void** library, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  return load(path, *reinterpret_cast<Loaded**>(library));
}
int cuLibraryUnload(void* library) { delete static_cast<Loaded*>(library); return 0; }
int cuLibraryGetKernelCount(unsigned* count, void* library) {
  *count = static_cast<unsigned>(static_cast<Loaded*>(library)->kernels);
  return 0;
}
int cuLibraryEnumerateKernels(void** kernels, unsigned, void* library) { *kernels = library; return 0; }
int cuKernelGetFunction(void** function, void* kernel) { *function = kernel; return 0; }
int cuGetErrorName(int code, const char** name) {
  *name = code == 301 ? "CUDA_ERROR_FILE_NOT_FOUND" : "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int code, const char** text) { *text = code == 301 ? "file not found" : "some error"; return 0; }
int cuMemAlloc_v2(unsigned long long* address, unsigned long bytes) {
  *address = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(unsigned long long address) { std::free(reinterpret_cast<void*>(address)); return 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, unsigned long bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, unsigned long bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                   void** arguments, void**) {
  const auto* loaded = static_cast<const Loaded*>(function);
  auto* out = *static_cast<float**>(arguments[0]);
  auto* expected = *static_cast<float**>(arguments[1]);
  if (loaded->behaviour == "silent") return 0;
  for (int i = 0; i < 1024; ++i) {
    expected[i] = static_cast<float>(i);
    out[i] = loaded->behaviour == "wrong" && i == 1000 ? -1.0F : static_cast<float>(i);
  }
  return 0;
}
}
