#include "strategy/messages.h"

#include <cstdio>
#include <cstring>

namespace jitrace {
namespace {

struct DriverName {
  LoadCode code;
  std::string_view text;
};
constexpr DriverName driver_names[] = {
    {LoadCode::invalid_value, "CUDA_ERROR_INVALID_VALUE, invalid argument"},
    {LoadCode::invalid_image, "CUDA_ERROR_INVALID_IMAGE, device kernel image is invalid"},
    {LoadCode::no_binary_for_gpu,
     "CUDA_ERROR_NO_BINARY_FOR_GPU, no kernel image is available for execution on the device"},
    {LoadCode::invalid_ptx, "CUDA_ERROR_INVALID_PTX, a PTX JIT compilation failed"},
    {LoadCode::file_not_found, "CUDA_ERROR_FILE_NOT_FOUND, file not found"},
    {LoadCode::not_found, "CUDA_ERROR_NOT_FOUND, named symbol not found"},
};

std::string deepgemm_failure(const LoadResult& result, const std::string& path) {
  if (result.code == LoadCode::cuobjdump_failed)
    return "Assertion error (csrc/jit/kernel_runtime.hpp:48): exit_code == 0";
  if (result.code == LoadCode::wrong_kernel_count)
    return "Corrupted JIT cache directory (" + result.message + "): " + path;
  for (const DriverName& name : driver_names) {
    if (name.code != result.code) continue;
    return "CUDA driver error (csrc/jit/handle.hpp:117): " + std::to_string(static_cast<std::int64_t>(result.code)) +
           " (" + std::string(name.text) + ")" + (result.simulated ? " [elf, simulated]" : "");
  }
  return result.message;
}

}  // namespace

std::string load_failure(Family family, const LoadResult& result, const std::string& path) {
  switch (family) {
    case Family::torch:
    case Family::fingerprint: return "ImportError: " + result.message;
    case Family::deepgemm: return deepgemm_failure(result, path);
    case Family::sound: return "cannot load " + path + ": " + result.message;
  }
  return result.message;
}

std::string build_failure(Family family, const std::string& kernel, const std::string& output) {
  switch (family) {
    case Family::torch:
    case Family::fingerprint: return "RuntimeError: Error building extension '" + kernel + "': " + output;
    case Family::deepgemm:
      return "NVCC compilation failed: " + output +
             "\nAssertion error (csrc/jit/compiler.hpp:222): false and \"NVCC compilation failed\"";
    case Family::sound: return "cannot build " + kernel + ": " + output;
  }
  return output;
}

std::string lock_timeout(Family family, Nanoseconds bound) {
  char number[32];
  std::snprintf(number, sizeof number, "%g", static_cast<double>(bound) / 1e9);
  if (family == Family::fingerprint) {
    return "timed out after " + std::string(number) + "s waiting for the cross-process JIT build lock";
  }
  return "timed out after " + std::string(number) + "s waiting for the build lock";
}

std::string corrupted_directory(const std::string& entry) {
  return "Corrupted JIT cache directory (missing kernel.cu or kernel.cubin): " + entry + ", please run `rm -rf " +
         entry + "`";
}

std::string stale_baton_warning(const std::string& path) {
  return "Removing a stale torch extension lock left by a process that has ended: " + path;
}

std::string rename_failure(const std::string& from, const std::string& to, int code) {
  return "filesystem error: cannot rename: " + std::string(std::strerror(code)) + " [" + from + "] [" + to + "]";
}

}  // namespace jitrace
