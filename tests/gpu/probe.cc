// What only a machine with a GPU can answer, for tests/gpu/run:
//
//   gpu_probe arch                            the device's arch: sm_90a, sm_100a
//   gpu_probe kernels KERNELS                 compiles, loads by both calls, launches, checks numbers; the other arch gives 209
//   gpu_probe decisions KERNELS IN OUT        asks the driver for every row of the table IN and writes the table OUT
//
// Exit 0, 1 with a line for each thing that was wrong, 125 with one line where there is no device.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/temp_dir.h"
#include "loader/cuda_driver.h"
#include "loader/decisions.h"
#include "loader/loader.h"
#include "process/process.h"
#include "toolchain/nvrtc.h"
#include "toolchain/toolchain.h"

namespace {

using namespace jitrace;

constexpr std::array<const char*, 4> kernels = {"axpy", "softmax", "gemm", "gemm_tuned"};
constexpr int exit_skip = 125;

int complaints = 0;

void complain(const std::string& text) {
  ++complaints;
  std::printf("FAIL %s\n", text.c_str());
}

// Before any process forks: a driver that was started does not survive it. So the question is asked in a child.
std::string device_arch(std::string& reason) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<CudaDriver> driver = CudaDriver::open();
    const std::string answer = driver ? "=" + driver->arch_of(0) : driver.error().message();
    [[maybe_unused]] const ssize_t n = ::write(ends[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::array<char, 512> buffer{};
  const ssize_t n = ::read(ends[0], buffer.data(), buffer.size() - 1);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (n > 0 && buffer[0] == '=') return buffer.data() + 1;
  reason = buffer.data();
  return {};
}

// Runs `ask` in a child, where a crash of the driver is an answer, too.
template <class Ask>
std::int64_t in_child(Ask ask) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return static_cast<std::int64_t>(LoadCode::other);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::int64_t code = ask();
    [[maybe_unused]] const ssize_t n = ::write(ends[1], &code, sizeof code);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::int64_t code = static_cast<std::int64_t>(LoadCode::crashed);
  if (::read(ends[0], &code, sizeof code) != sizeof code) code = static_cast<std::int64_t>(LoadCode::crashed);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return code;
}

std::int64_t ask_driver(const std::string& path, DriverApi api) {
  Result<CudaDriver> driver = CudaDriver::open();
  if (!driver || !driver->use(0)) return static_cast<std::int64_t>(LoadCode::other);
  if (api == DriverApi::module) {
    CudaDriver::Module module = nullptr;
    if (const int code = driver->module_load(&module, path.c_str()); code != 0) return code;
    CudaDriver::Function function = nullptr;
    return driver->module_function(&function, module, "axpy");
  }
  // Loading is lazy: what is wrong may show as late as at the function.
  CudaDriver::Library library = nullptr;
  if (const int code = driver->library_load(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0); code != 0) {
    return code;
  }
  unsigned count = 0;
  CudaDriver::Kernel kernel = nullptr;
  CudaDriver::Function function = nullptr;
  if (const int code = driver->library_kernel_count(&count, library); code != 0) return code;
  if (const int code = driver->library_kernels(&kernel, 1, library); code != 0) return code;
  return driver->kernel_function(&function, kernel);
}

class Compiler {
 public:
  explicit Compiler(std::string scratch) : scratch_(std::move(scratch)) {
    for (const ToolchainProbe& probe : find_toolchains({})) {
      if (!probe.toolchain || (probe.kind != ToolchainKind::nvcc && probe.kind != ToolchainKind::nvrtc)) continue;
      if (toolchain_.name.empty()) toolchain_ = *probe.toolchain;
    }
  }
  bool usable() const { return !toolchain_.name.empty(); }
  const std::string& name() const { return toolchain_.name; }

  Result<std::string> cubin(const Kernel& kernel, const std::string& arch) const {
    if (toolchain_.kind == ToolchainKind::nvrtc) {
      TRY_ASSIGN(const Nvrtc library, Nvrtc::open(toolchain_.program));
      TRY_ASSIGN(Nvrtc::Compiled compiled, library.compile({kernel.source, kernel.name + ".cu", arch, 1, {}}));
      if (!compiled.ok) return plain_error("compile " + kernel.name, compiled.log);
      return std::move(compiled.cubin);
    }
    return run(kernel, arch, "-cubin");
  }
  Result<std::string> ptx(const Kernel& kernel, const std::string& arch) const { return run(kernel, arch, "-ptx"); }

 private:
  Result<std::string> run(const Kernel& kernel, const std::string& arch, const std::string& form) const {
    const std::string source = join(scratch_, kernel.name + ".cu");
    const std::string output = join(scratch_, "out");
    TRY(write_file(source, kernel.source));
    Command command;
    command.argv = {toolchain_.program, form, "-arch=" + arch, "-std=c++17", "-o", output, source};
    TRY_ASSIGN(const Finished finished, run_to_end(command));
    if (!finished.status.is_exit(0)) return plain_error("compile " + kernel.name, finished.output);
    return read_file(output);
  }

  std::string scratch_;
  Toolchain toolchain_;
};

void check_kernels(const Compiler& compiler, const std::string& directory, const std::string& arch, const std::string& scratch) {
  const std::string other = arch == "sm_100a" ? "sm_90a" : "sm_100a";
  const std::string path = join(scratch, "kernel.cubin");
  for (const char* name : kernels) {
    const Result<Kernel> kernel = read_kernel(directory, name);
    if (!kernel) return complain(kernel.error().message());
    for (const std::string& target : {arch, other}) {
      const Result<std::string> cubin = compiler.cubin(*kernel, target);
      if (!cubin) {
        complain(cubin.error().message());
        continue;
      }
      if (!write_file(path, *cubin)) complain("cannot write " + path);
      for (const LoadApi api : {LoadApi::symbols_then_module, LoadApi::library}) {
        const std::int64_t wanted = target == arch ? 0 : static_cast<std::int64_t>(LoadCode::no_binary_for_gpu);
        const std::int64_t code = in_child([&]() -> std::int64_t {
          auto loader = make_loader({.kind = "cuda", .device = arch, .kernel = name, .api = api, .decisions = {}});
          if (!loader) return static_cast<std::int64_t>(LoadCode::other);
          const LoadResult result = (*loader)->load(path);
          if (result.code != LoadCode::ok) std::printf("     %s\n", result.message.c_str());
          std::fflush(stdout);
          return static_cast<std::int64_t>(result.code);
        });
        const std::string what = std::string(name) + " for " + target + (api == LoadApi::library ? " by library" : " by module");
        if (code != wanted) complain(what + ": " + std::to_string(code) + " instead of " + std::to_string(wanted));
        else std::printf("ok   %s: %lld\n", what.c_str(), static_cast<long long>(code));
        std::fflush(stdout);
      }
    }
  }
}

// A file that is this input, or no file for `missing`. Nothing where it cannot be made here.
Result<std::string> make_input(Input input, const Compiler& compiler, const Kernel& kernel, const std::string& arch) {
  if (input == Input::ptx) return compiler.ptx(kernel, arch);
  if (input == Input::wrong_arch) return compiler.cubin(kernel, arch == "sm_100a" ? "sm_90a" : "sm_100a");
  TRY_ASSIGN(std::string whole, compiler.cubin(kernel, arch));
  switch (input) {
    case Input::missing:
    case Input::empty:
      return std::string();
    case Input::one_byte:
      return whole.substr(0, 1);
    case Input::cut_header:
      return whole.substr(0, 40);
    case Input::cut_sections:
      return whole.substr(0, whole.size() / 2);
    case Input::cut_tail:
      return whole.substr(0, whole.size() - 100);
    case Input::text:
      return std::string("<html>this is no kernel</html>\n");
    case Input::flipped_body:
      for (std::size_t i = 0; i < 64; ++i) whole[whole.size() / 2 + i] = static_cast<char>(~whole[whole.size() / 2 + i]);
      return whole;
    case Input::ptx:
    case Input::wrong_arch:
    case Input::whole:
      break;
  }
  return whole;
}

std::string basis() {
  std::array<char, 32> date{};
  const std::time_t today = std::time(nullptr);
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&today));
  std::string driver = "unknown";
  if (const Result<std::string> text = read_file("/proc/driver/nvidia/version")) {
    // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul …"
    const std::size_t at = text->find("Module  ");
    if (at != std::string::npos) driver = text->substr(at + 8, text->find(' ', at + 8) - at - 8);
  }
  return "measured (driver " + driver + ", " + date.data() + ")";
}

void measure(const Compiler& compiler, const std::string& directory, const std::string& arch, const std::string& scratch,
             const std::string& from, const std::string& to) {
  const Result<std::string> old_text = read_file(from);
  Result<Decisions> table = Decisions::read(from);
  const Result<Kernel> kernel = read_kernel(directory, "axpy");
  if (!table || !kernel || !old_text) return complain("cannot read " + from + " or axpy.cu");
  const std::string measured = basis();
  const std::vector<Decision> rows = table->rows();
  for (const Decision& row : rows) {
    const Result<std::string> bytes = make_input(row.input, compiler, *kernel, arch);
    if (!bytes) {
      complain(std::string(name_of(row.input)) + ": " + bytes.error().message());
      continue;
    }
    const std::string path = join(scratch, "input.cubin");
    if (!remove_file(path)) complain("cannot remove " + path);
    if (row.input != Input::missing && !write_file(path, *bytes)) complain("cannot write " + path);
    const std::int64_t code = in_child([&] { return ask_driver(path, row.api); });
    std::printf("%s %-12s %-7s %lld (was %lld, %s)\n", code == row.code ? "same" : "NEW ", std::string(name_of(row.input)).c_str(),
                std::string(name_of(row.api)).c_str(), static_cast<long long>(code), static_cast<long long>(row.code),
                row.basis.c_str());
    std::fflush(stdout);
    table->set({row.input, row.api, code, measured});
  }
  const std::string head = old_text->substr(0, old_text->find("[[row]]"));
  if (const auto written = write_file(to, head + table->text()); !written) complain(written.error().message());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  const std::size_t wanted = command == "arch" ? 1 : command == "kernels" ? 2 : command == "decisions" ? 4 : 0;
  if (wanted == 0 || words.size() != wanted) {
    std::fputs("usage: gpu_probe arch | kernels KERNELS | decisions KERNELS IN OUT\n", stderr);
    return 64;
  }
  std::string reason = "no CUDA device";
  const std::string arch = device_arch(reason);
  if (arch.empty()) {
    std::printf("SKIP %s\n", reason.c_str());
    return exit_skip;
  }
  if (command == "arch") {
    std::printf("%s\n", arch.c_str());
    return 0;
  }
  const Result<TempDir> scratch = TempDir::create(::getenv("TMPDIR") == nullptr ? "/tmp" : ::getenv("TMPDIR"), "gpu_probe");
  if (!scratch) return 70;
  const Compiler compiler(scratch->path());
  if (!compiler.usable()) {
    std::printf("SKIP neither nvcc nor libnvrtc is here\n");
    return exit_skip;
  }
  std::printf("compiles with %s for %s\n", compiler.name().c_str(), arch.c_str());
  if (command == "kernels") check_kernels(compiler, words[1], arch, scratch->path());
  else measure(compiler, words[1], arch, scratch->path(), words[2], words[3]);
  return complaints == 0 ? 0 : 1;
}
