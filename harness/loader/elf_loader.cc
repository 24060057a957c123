#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "loader/decisions.h"
#include "loader/elf_image.h"
#include "loader/loaders.h"

namespace jitrace {
namespace {

// Answers as the driver would, from the table of its decisions. Its codes are never a driver's word: every result says
// that it is simulated.
class ElfLoader final : public Loader {
 public:
  ElfLoader(LoaderOptions options, Decisions decisions) : options_(std::move(options)), decisions_(std::move(decisions)) {}

  std::string_view name() const override { return "elf"; }

  LoadResult load(const std::string& path) override {
    if (options_.api == LoadApi::symbols_then_module) {
      if (LoadResult symbols = read_symbols(path); symbols.code != LoadCode::ok) return marked(std::move(symbols));
      return decide(path, DriverApi::module);
    }
    return decide(path, DriverApi::library);
  }

 private:
  static LoadResult marked(LoadResult result) {
    result.simulated = true;
    result.message += " (elf, simulated)";
    return result;
  }

  LoadResult decide(const std::string& path, DriverApi api) const {
    Result<std::string> bytes = read_file(path);
    if (!bytes && bytes.error().code != ENOENT) return {LoadCode::other, bytes.error().message(), {}, true};
    if (!bytes) return simulated_result(code_for(Input::missing, api), "elf", {});
    const ElfImage image = read_elf_image(*bytes);
    Input input = image.form;
    if (input == Input::whole && !options_.device.empty() && !arch_runs_on(image.arch, options_.device)) {
      input = Input::wrong_arch;
    }
    const LoadCode code = code_for(input, api);
    // The count is asked of what was loaded; PTX tells it only once it is compiled.
    if (code == LoadCode::ok && input == Input::whole && image.kernels.size() != 1) {
      return marked(wrong_count(image.kernels.size(), std::move(*bytes)));
    }
    return simulated_result(code, "elf", std::move(*bytes));
  }

  LoadCode code_for(Input input, DriverApi api) const {
    return static_cast<LoadCode>(decisions_.look_up(input, api).code);
  }

  LoaderOptions options_;
  Decisions decisions_;
};

}  // namespace

LoadResult wrong_count(std::size_t kernels, std::string bytes) {
  return {LoadCode::wrong_kernel_count, "expected 1 kernel, found " + std::to_string(kernels), std::move(bytes), false};
}

LoadResult read_symbols(const std::string& path) {
  Result<std::string> bytes = read_file(path);
  if (!bytes) {
    return {LoadCode::cuobjdump_failed, "cuobjdump: " + path + ": " + std::strerror(bytes.error().code), {}, false};
  }
  const ElfImage image = read_elf_image(*bytes);
  if (image.form != Input::whole && image.form != Input::cut_tail) {
    return {LoadCode::cuobjdump_failed, "cuobjdump: " + path + ": not a cubin", std::move(*bytes), false};
  }
  if (image.kernels.size() != 1) return wrong_count(image.kernels.size(), std::move(*bytes));
  return {};
}

Result<std::unique_ptr<Loader>> make_elf_loader(const LoaderOptions& options) {
  TRY_ASSIGN(Decisions decisions, Decisions::read(options.decisions));
  return std::unique_ptr<Loader>(std::make_unique<ElfLoader>(options, std::move(decisions)));
}

}  // namespace jitrace
