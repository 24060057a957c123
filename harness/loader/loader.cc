#include "loader/loader.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "loader/loaders.h"

namespace jitrace {
namespace {

struct Entry {
  std::string_view name;
  Result<std::unique_ptr<Loader>> (*make)(const LoaderOptions&);
};
constexpr std::array<Entry, 4> entries = {{{"cuda", &make_cuda_loader},
                                           {"elf", &make_elf_loader},
                                           {"dlopen", &make_dlopen_loader},
                                           {"fake", &make_fake_loader}}};

}  // namespace

LoadResult simulated_result(LoadCode code, std::string_view loader, std::string bytes) {
  LoadResult result;
  result.code = code;
  result.message = std::to_string(static_cast<std::int64_t>(code)) + " (" + std::string(loader) + ", simulated)";
  result.bytes = std::move(bytes);
  result.simulated = true;
  return result;
}

Result<std::unique_ptr<Loader>> make_loader(const LoaderOptions& options) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.name == options.kind) return entry.make(options);
    names.emplace_back(entry.name);
  }
  return plain_error("make loader \"" + options.kind + "\"", "there are " + join_text(names, ", "));
}

std::vector<LoaderProbe> find_loaders() {
  return {probe_cuda(),
          {"elf", true, "the driver's answers from a table, without a GPU"},
          {"dlopen", true, "shared objects, in a child process"},
          {"fake", true, "artifacts of the fake compiler"}};
}

}  // namespace jitrace
