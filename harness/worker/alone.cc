#include "worker/alone.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "base/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "strategy/engine.h"

namespace jitrace {
namespace {

constexpr std::string_view usage =
    "usage: get PRESET CACHE [--kernel NAME|FILE.cu] [--toolchain fake|cxx|nvcc|nvrtc] [--compiler PROGRAM]\n"
    "           [--arch ARCH] [--loader cuda|elf] [--device DEVICE] [--load-api library|module] [--bound-scale X]\n"
    "           [--fake-ms N]";

// Of all that a strategy announces, what its user would read, and whether what it loaded is whole.
class AloneProbe final : public Probe {
 public:
  void reach(Point, std::string_view, std::uint64_t) override {}
  void note(Event&& event) override {
    if (event.kind == EventKind::warned) std::fprintf(stderr, "warning: %s\n", event.text.c_str());
    constexpr std::int64_t right = load_intact | load_right_key;
    if (event.kind == EventKind::loaded && event.a == 0) whole_ = (event.b & right) == right;
  }
  void tool_begin(ToolRole, std::uint32_t, std::string_view) override {}
  void tool_end(std::uint32_t, int) override {}
  void set_key(std::uint16_t) override {}
  void set_attempt(std::uint64_t) override {}

  bool whole() const { return whole_; }

 private:
  bool whole_ = false;
};

Result<Toolchain> usable(const Toolchain& wanted, const std::string& libexec) {
  if (!wanted.program.empty()) return wanted;
  std::string reason = "it was not looked for";
  for (const ToolchainProbe& probe : find_toolchains({{}, libexec})) {
    if (probe.kind != wanted.kind) continue;
    if (probe.toolchain) return *probe.toolchain;
    reason = probe.reason;
  }
  return plain_error("use " + std::string(name_of(wanted.kind)), reason);
}

Result<Kernel> kernel_of(const std::string& wanted) {
  const bool is_path = wanted.ends_with(".cu");
  const std::string directory = is_path ? parent_of(wanted) : join(own_dir(), "../../share/jitrace/scenarios/kernels");
  return read_kernel(directory, is_path ? base_of(wanted).substr(0, base_of(wanted).size() - 3) : wanted);
}

std::string loader_of(ArtifactKind kind) {
  if (kind == ArtifactKind::fake) return "fake";
  return kind == ArtifactKind::shared_object ? "dlopen" : "elf";
}

Result<Job> job_of(const AloneOptions& options, const Preset& preset, const std::string& scratch) {
  Job job;
  std::error_code code;
  job.root = std::filesystem::absolute(options.cache, code).lexically_normal();
  job.scratch = scratch;
  job.libexec = own_dir();
  TRY_ASSIGN(job.toolchain, usable(options.toolchain, job.libexec));
  job.compiler = job.toolchain.program;
  job.arch = options.arch;
  TRY_ASSIGN(Kernel kernel, kernel_of(options.kernel));
  job.loader = options.loader;
  job.loader.kernel = kernel.name;
  const Layout layout = layout_of(preset, job.root, kernel.name, job.arch, job.toolchain.kind);
  if (layout.kind != ArtifactKind::cubin || job.loader.kind.empty()) job.loader.kind = loader_of(layout.kind);
  if (job.loader.device.empty()) job.loader.device = job.arch;
  job.keys.push_back({kernel.name, kernel.source, 0});
  job.bound_scale = options.bound_scale;
  job.fake_duration = options.fake_duration;
  // Like a real compiler, it makes the same bytes of the same source each time.
  job.attempt = 1;
  // Who counts the calls by another tracer waits in real time for a server to leave.
  job.server_idle = seconds(3);
  return job;
}

Result<int> get(const AloneOptions& options, const Preset& preset) {
  const char* temporary = std::getenv("TMPDIR");
  TRY_ASSIGN(const TempDir scratch, TempDir::create(temporary == nullptr ? "/tmp" : temporary, "jitrace-get"));
  TRY_ASSIGN(const Job job, job_of(options, preset, scratch.path()));
  TRY(make_dirs(job.root));
  AloneProbe probe;
  Engine engine(preset, job, probe);
  const GetEnd end = engine.get(0);
  const std::string& kernel = job.keys.front().kernel;
  if (end.outcome != Outcome::built && end.outcome != Outcome::served) {
    std::printf("%s\n", end.message.c_str());
    return 1;
  }
  if (!probe.whole()) {
    std::printf("%s is loaded, and it is not what was compiled\n", kernel.c_str());
    return 1;
  }
  std::printf("%s is loaded, %s\n", kernel.c_str(), end.outcome == Outcome::built ? "built here" : "found");
  return 0;
}

using Take = std::function<bool(const std::string&)>;

// What each flag does with its value; false: the value is not one.
std::map<std::string, Take> flags_of(AloneOptions& options) {
  const auto text = [](std::string& into) {
    return [&into](const std::string& value) {
      into = value;
      return !value.empty();
    };
  };
  std::map<std::string, Take> flags{{"--kernel", text(options.kernel)},
                                    {"--compiler", text(options.toolchain.program)},
                                    {"--arch", text(options.arch)},
                                    {"--loader", text(options.loader.kind)},
                                    {"--device", text(options.loader.device)}};
  flags["--toolchain"] = [&options](const std::string& value) {
    const auto kind = parse_toolchain_kind(value);
    if (kind) options.toolchain.kind = *kind;
    options.toolchain.name = value;
    return kind.has_value();
  };
  flags["--load-api"] = [&options](const std::string& value) {
    options.loader.api = value == "module" ? LoadApi::symbols_then_module : LoadApi::library;
    return value == "module" || value == "library";
  };
  flags["--bound-scale"] = [&options](const std::string& value) {
    options.bound_scale = parse_real(value).value_or(0);
    return options.bound_scale > 0;
  };
  flags["--fake-ms"] = [&options](const std::string& value) {
    options.fake_duration = milliseconds(parse_int(value).value_or(-1));
    return options.fake_duration >= 0;
  };
  return flags;
}

}  // namespace

std::vector<std::string> AloneOptions::words() const {
  const AloneOptions standard;
  std::vector<std::string> out{preset, cache};
  const auto add = [&out](const char* flag, const std::string& value, const std::string& standard_value) {
    if (value != standard_value) out.insert(out.end(), {flag, value});
  };
  add("--kernel", kernel, standard.kernel);
  add("--toolchain", std::string(name_of(toolchain.kind)), std::string(name_of(standard.toolchain.kind)));
  add("--compiler", toolchain.program, "");
  add("--arch", arch, standard.arch);
  add("--loader", loader.kind, "");
  add("--device", loader.device, "");
  add("--load-api", loader.api == LoadApi::library ? "library" : "module", "library");
  char number[40];
  std::snprintf(number, sizeof number, "%.17g", bound_scale);
  add("--bound-scale", number, "1");
  add("--fake-ms", std::to_string(fake_duration / milliseconds(1)), "0");
  return out;
}

Result<AloneOptions> AloneOptions::parse(const std::vector<std::string>& words) {
  AloneOptions options;
  options.toolchain.name = name_of(options.toolchain.kind);
  std::map<std::string, Take> flags = flags_of(options);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      names.push_back(word);
      continue;
    }
    const auto flag = flags.find(word);
    if (flag == flags.end()) return plain_error("read the arguments", "there is no " + word);
    if (++i == words.size() || !flag->second(words[i])) {
      const std::string given = i < words.size() ? " than \"" + words[i] + "\"" : "";
      return plain_error("read the arguments", word + " wants another value" + given);
    }
  }
  if (names.size() != 2) return plain_error("read the arguments", "it takes a preset and a cache directory");
  options.preset = names[0];
  options.cache = names[1];
  return options;
}

int alone_main(int argc, char** argv) {
  const auto options = AloneOptions::parse(std::vector<std::string>(argv + 1, argv + argc));
  const Preset* preset = options ? find_preset(options->preset) : nullptr;
  if (preset == nullptr) {
    const std::string reason = options ? "there is no preset " + options->preset : options.error().message();
    std::fprintf(stderr, "get: %s\n%s\n", reason.c_str(), usage.data());
    return 64;
  }
  const Result<int> code = get(*options, *preset);
  if (code) return *code;
  std::fprintf(stderr, "get: %s\n", code.error().message().c_str());
  return 70;
}

}  // namespace jitrace
