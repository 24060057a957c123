#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "loader/cuda_driver.h"
#include "loader/loaders.h"

namespace jitrace {
namespace {

// Every kernel of scenarios/kernels has this shape: 128 threads fill `out` by the way that is under test and `expected`
// by a plain loop, 1024 floats each.
constexpr std::size_t values = 1024;
constexpr unsigned threads = 128;
constexpr float tolerance = 1e-2F;

class DeviceBuffer {
 public:
  DeviceBuffer(const CudaDriver& driver, std::size_t bytes) : driver_(driver) { code_ = driver.allocate(&address_, bytes); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (code_ == 0) driver_.release(address_);
  }
  int code() const { return code_; }
  CudaDriver::Address* address() { return &address_; }

 private:
  const CudaDriver& driver_;
  CudaDriver::Address address_ = 0;
  int code_ = 0;
};

class CudaLoader final : public Loader {
 public:
  CudaLoader(CudaDriver driver, LoaderOptions options) : driver_(std::move(driver)), options_(std::move(options)) {}

  std::string_view name() const override { return "cuda"; }

  LoadResult load(const std::string& path) override {
    LoadResult result;
    if (options_.api == LoadApi::symbols_then_module) {
      result = read_symbols(path);
      if (result.code == LoadCode::ok) result = load_module(path);
    } else {
      result = load_library(path);
    }
    if (result.bytes.empty()) {
      if (Result<std::string> bytes = read_file(path)) result.bytes = std::move(*bytes);
    }
    return result;
  }

 private:
  LoadResult failed(int code) const { return {static_cast<LoadCode>(code), driver_.describe(code), {}, false}; }

  LoadResult load_module(const std::string& path) const {
    CudaDriver::Module module = nullptr;
    if (const int code = driver_.module_load(&module, path.c_str()); code != 0) return failed(code);
    CudaDriver::Function function = nullptr;
    const int code = driver_.module_function(&function, module, options_.kernel.c_str());
    LoadResult result = code == 0 ? check_numbers(function) : failed(code);
    driver_.module_unload(module);
    return result;
  }

  LoadResult load_library(const std::string& path) const {
    CudaDriver::Library library = nullptr;
    const int loaded = driver_.library_load(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (loaded != 0) return failed(loaded);
    LoadResult result = check_library(library);
    driver_.library_unload(library);
    return result;
  }

  LoadResult check_library(CudaDriver::Library library) const {
    unsigned count = 0;
    if (const int code = driver_.library_kernel_count(&count, library); code != 0) return failed(code);
    if (count != 1) return wrong_count(count, {});
    CudaDriver::Kernel kernel = nullptr;
    if (const int code = driver_.library_kernels(&kernel, 1, library); code != 0) return failed(code);
    CudaDriver::Function function = nullptr;
    if (const int code = driver_.kernel_function(&function, kernel); code != 0) return failed(code);
    return check_numbers(function);
  }

  LoadResult check_numbers(CudaDriver::Function function) const {
    constexpr std::size_t bytes = values * sizeof(float);
    DeviceBuffer out(driver_, bytes);
    DeviceBuffer expected(driver_, bytes);
    if (out.code() != 0) return failed(out.code());
    if (expected.code() != 0) return failed(expected.code());
    // Not a number: a kernel that writes nothing must not compare equal to itself.
    std::vector<float> host_out(values, NAN);
    std::vector<float> host_expected(values, NAN);
    if (const int code = driver_.copy_in(*out.address(), host_out.data(), bytes); code != 0) return failed(code);
    if (const int code = driver_.copy_in(*expected.address(), host_expected.data(), bytes); code != 0) return failed(code);
    std::array<void*, 2> arguments = {out.address(), expected.address()};
    if (const int code = driver_.launch(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments.data(), nullptr); code != 0) {
      return failed(code);
    }
    if (const int code = driver_.synchronize(); code != 0) return failed(code);
    if (const int code = driver_.copy_out(host_out.data(), *out.address(), bytes); code != 0) return failed(code);
    if (const int code = driver_.copy_out(host_expected.data(), *expected.address(), bytes); code != 0) return failed(code);
    for (std::size_t i = 0; i < values; ++i) {
      const float off = std::fabs(host_out[i] - host_expected[i]);
      if (!(off <= tolerance * (1 + std::fabs(host_expected[i])))) {
        return {LoadCode::wrong_numbers, "value " + std::to_string(i) + " is " + std::to_string(host_out[i]) + " and not " +
                                             std::to_string(host_expected[i]), {}, false};
      }
    }
    return {LoadCode::ok, "0", {}, false};
  }

  CudaDriver driver_;
  LoaderOptions options_;
};

// The worker's device among those that fit: all, those of an arch, or the one of a number.
Result<CudaDriver::Device> choose_device(const CudaDriver& driver, const LoaderOptions& options) {
  int count = 0;
  std::vector<CudaDriver::Device> fitting;
  const std::optional<std::int64_t> number = parse_int(options.device);
  if (const int code = driver.device_count(&count); code != 0) return plain_error("count devices", driver.describe(code));
  for (int i = 0; i < count; ++i) {
    CudaDriver::Device device = 0;
    if (driver.device_get(&device, i) != 0) continue;
    if (options.device.empty() || number == i || driver.arch_of(device) == options.device) fitting.push_back(device);
  }
  if (fitting.empty()) return plain_error("use CUDA device \"" + options.device + "\"", "none of the devices here fits");
  return fitting[static_cast<std::size_t>(options.index) % fitting.size()];
}

}  // namespace

Result<std::unique_ptr<Loader>> make_cuda_loader(const LoaderOptions& options) {
  TRY_ASSIGN(CudaDriver driver, CudaDriver::open());
  if (options.api == LoadApi::library && driver.library_load == nullptr) {
    return plain_error("load by library", "this driver is older than CUDA 12");
  }
  TRY_ASSIGN(const CudaDriver::Device device, choose_device(driver, options));
  TRY(driver.use(device));
  return std::unique_ptr<Loader>(std::make_unique<CudaLoader>(std::move(driver), options));
}

LoaderProbe probe_cuda() {
  const Result<CudaDriver> driver = CudaDriver::open();
  if (!driver) return {"cuda", false, driver.error().message()};
  return {"cuda", true, "device 0 is " + driver->arch_of(0)};
}

}  // namespace jitrace
