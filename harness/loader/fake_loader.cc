#include <cerrno>
#include <utility>

#include "base/file.h"
#include "loader/loaders.h"
#include "toolchain/artifact.h"
#include "toolchain/fake_artifact.h"

namespace jitrace {
namespace {

// Fails as dlopen does where the file is called a shared object, and as the driver does elsewhere (the classes are those
// measured on real files: an absent name, less than a header, a foreign header, a torn body).
class FakeLoader final : public Loader {
 public:
  explicit FakeLoader(const LoaderOptions& options) : device_(options.device) {}

  std::string_view name() const override { return "fake"; }

  LoadResult load(const std::string& path) override {
    const bool shared_object = path.ends_with(".so");
    const auto choose = [shared_object](LoadCode so, LoadCode cubin) { return shared_object ? so : cubin; };
    Result<std::string> read = read_file(path);
    if (!read) {
      if (read.error().code != ENOENT) return answer(LoadCode::other, {}, read.error().message());
      return answer(choose(LoadCode::cannot_open, LoadCode::file_not_found), {},
                    shared_object ? path + ": cannot open shared object file: No such file or directory" : "");
    }
    std::string& bytes = *read;
    if (bytes.size() < sizeof(FakeHeader)) {
      return answer(choose(LoadCode::too_short, LoadCode::invalid_image), std::move(bytes),
                    shared_object ? path + ": file too short" : "");
    }
    if (!is_fake_artifact(bytes) || fake_header_of(bytes).linked == 0) {
      return answer(choose(LoadCode::invalid_elf, LoadCode::invalid_image), std::move(bytes),
                    shared_object ? path + ": invalid ELF header" : "");
    }
    const ArtifactView view = view_artifact(bytes);
    if (!view.whole) return answer(choose(LoadCode::bus_error, LoadCode::invalid_image), std::move(bytes), "");
    if (!device_.empty() && !view.arch.empty() && view.arch != device_) {
      return answer(LoadCode::no_binary_for_gpu, std::move(bytes), "");
    }
    return answer(LoadCode::ok, std::move(bytes), "");
  }

 private:
  static LoadResult answer(LoadCode code, std::string bytes, const std::string& text) {
    LoadResult result = simulated_result(code, "fake", std::move(bytes));
    if (!text.empty()) result.message = text + " (fake, simulated)";
    return result;
  }

  std::string device_;
};

}  // namespace

Result<std::unique_ptr<Loader>> make_fake_loader(const LoaderOptions& options) {
  return std::unique_ptr<Loader>(std::make_unique<FakeLoader>(options));
}

}  // namespace jitrace
