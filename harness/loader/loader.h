#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jitrace {

// How a load ended. The numbers are the CUDA driver's; those from 1000 on are ours.
enum class LoadCode : std::int64_t {
  ok = 0,
  invalid_value = 1,
  invalid_image = 200,
  no_binary_for_gpu = 209,
  invalid_ptx = 218,
  file_not_found = 301,
  not_found = 500,
  cuobjdump_failed = 1001,   // DeepGEMM's symbol pass could not read the file
  wrong_kernel_count = 1002, // "expected 1 kernel, found N"
  cannot_open = 1003,        // dlopen: "cannot open shared object file"
  too_short = 1004,          // dlopen: "file too short"
  invalid_elf = 1005,        // dlopen: "invalid ELF header" and the like
  bus_error = 1006,          // dlopen died of SIGBUS
  crashed = 1007,            // died of another signal
  wrong_numbers = 1008,      // the kernel ran and its numbers are wrong
  other = 1099,
};

struct LoadResult {
  LoadCode code = LoadCode::ok;
  std::string message;      // as the system's user would read it: "301 (elf, simulated)", "file too short"
  std::string bytes;        // what was read, for the stamp; empty where nothing could be read
  bool simulated = false;   // decided by the table, not by a driver
};

// Which calls the mirrored system loads with. `symbols_then_module`: DeepGEMM's cuobjdump pass, then cuModuleLoad: two
// opens by name. `library`: cuLibraryLoadFromFile, kernel count 1.
enum class LoadApi { symbols_then_module, library };

// Turns an artifact into something callable, the way the mirrored system does.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual std::string_view name() const = 0;   // cuda, elf, dlopen, fake
  virtual LoadResult load(const std::string& path) = 0;
};

struct LoaderOptions {
  std::string kind;            // cuda, elf, dlopen, fake
  std::string device;          // "sm_90a": the target of elf; cuda takes the devices of that arch, or the one of that number
  std::string kernel;          // name, for the numeric self-check
  LoadApi api = LoadApi::library;
  std::string decisions;       // path of driver_decisions.toml; empty: the built-in copy
  int index = 0;               // the worker's: cuda loads on its device number (index mod how many fit)
};
Result<std::unique_ptr<Loader>> make_loader(const LoaderOptions& options);

// One that was looked for, for `list` and `doctor`.
struct LoaderProbe {
  std::string name;
  bool usable = false;
  std::string reason;
};
std::vector<LoaderProbe> find_loaders();

}  // namespace jitrace
