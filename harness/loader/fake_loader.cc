#include <cerrno>
#include <utility>

#include "base/file.h"
#include "loader/fake_image.h"
#include "loader/loaders.h"

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
    const FakeImage image = read_fake_image(*read);
    const auto broken = [&](LoadCode so, const char* text) {
      return answer(choose(so, LoadCode::invalid_image), std::move(*read), shared_object ? path + ": " + text : "");
    };
    switch (image.form) {
      case FakeImage::Form::empty:
      case FakeImage::Form::cut_header:
        return broken(LoadCode::too_short, "file too short");
      case FakeImage::Form::foreign:
        return broken(LoadCode::invalid_elf, "invalid ELF header");
      case FakeImage::Form::object:
        return broken(LoadCode::invalid_elf, "only ET_DYN and ET_EXEC can be loaded");
      case FakeImage::Form::torn:
        return broken(LoadCode::bus_error, "died of signal 7 in dlopen");
      case FakeImage::Form::whole:
        break;
    }
    const bool right_arch = device_.empty() || image.arch.empty() || image.arch == device_;
    return answer(right_arch ? LoadCode::ok : LoadCode::no_binary_for_gpu, std::move(*read), "");
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
