#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

struct CUctx_st;
struct CUmod_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUstream_st;

namespace jitrace {

// libcuda.so.1, opened at run time; nothing links against it and the build needs no CUDA headers (a unit test compares
// these declarations with cuda.h where it is there). Codes are CUresult: 0 is success.
struct CudaDriver {
  using Code = int;
  using Device = int;
  using Context = CUctx_st*;
  using Module = CUmod_st*;
  using Library = CUlib_st*;
  using Kernel = CUkern_st*;
  using Function = CUfunc_st*;
  using Stream = CUstream_st*;
  using Address = unsigned long long;

  std::unique_ptr<void, int (*)(void*)> handle{nullptr, nullptr};
  Code (*init)(unsigned) = nullptr;
  Code (*driver_version)(int*) = nullptr;
  Code (*device_count)(int*) = nullptr;
  Code (*device_get)(Device*, int) = nullptr;
  Code (*device_attribute)(int*, int, Device) = nullptr;
  Code (*retain_context)(Context*, Device) = nullptr;
  Code (*set_context)(Context) = nullptr;
  Code (*synchronize)() = nullptr;
  Code (*module_load)(Module*, const char*) = nullptr;
  Code (*module_unload)(Module) = nullptr;
  Code (*module_function)(Function*, Module, const char*) = nullptr;
  Code (*error_name)(Code, const char**) = nullptr;
  Code (*error_string)(Code, const char**) = nullptr;
  Code (*allocate)(Address*, std::size_t) = nullptr;
  Code (*release)(Address) = nullptr;
  Code (*copy_in)(Address, const void*, std::size_t) = nullptr;
  Code (*copy_out)(void*, Address, std::size_t) = nullptr;
  Code (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                 void**) = nullptr;
  // Since CUDA 12; null in older drivers.
  Code (*library_load)(Library*, const char*, int*, void**, unsigned, int*, void**, unsigned) = nullptr;
  Code (*library_unload)(Library) = nullptr;
  Code (*library_kernel_count)(unsigned*, Library) = nullptr;
  Code (*library_kernels)(Kernel*, unsigned, Library) = nullptr;
  Code (*kernel_function)(Function*, Kernel) = nullptr;

  // Opened and initialised. Fails, with a clause that says what would help, where there is no driver or no device.
  static Result<CudaDriver> open();

  // Makes the device's primary context this thread's.
  Result<void> use(Device device) const;

  // "301 (CUDA_ERROR_FILE_NOT_FOUND, file not found)"
  std::string describe(Code code) const;
  // "sm_90a" for 9.0 and "sm_100a" for 10.0; "sm_89" below.
  std::string arch_of(Device device) const;
};

}  // namespace jitrace
