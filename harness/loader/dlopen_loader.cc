#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "loader/loaders.h"
#include "process/reaper.h"

namespace jitrace {
namespace {

constexpr int exit_dlopen_failed = 1;
constexpr int exit_wrong_numbers = 2;

// Runs in the child: a cut shared object kills its loader with SIGBUS, and no handler can make that an error.
[[noreturn]] void load_and_check(const char* path, int answer) {
  ::prctl(PR_SET_DUMPABLE, 0);  // its death is an answer, not worth a core file
  // Whatever handlers the process has (a sanitizer's, say) must not turn that death into an exit.
  for (const int number : {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) ::signal(number, SIG_DFL);
  void* handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    [[maybe_unused]] const ssize_t n = ::write(answer, text, std::strlen(text));
    ::_exit(exit_dlopen_failed);
  }
  auto* check = reinterpret_cast<int (*)()>(::dlsym(handle, "jitrace_selfcheck"));
  ::_exit(check == nullptr || check() == 0 ? 0 : exit_wrong_numbers);
}

LoadCode classify(std::string_view text) {
  if (text.find("file too short") != std::string_view::npos) return LoadCode::too_short;
  if (text.find("cannot open shared object file") != std::string_view::npos) return LoadCode::cannot_open;
  constexpr std::array<std::string_view, 6> broken = {"invalid ELF header", "ELF file's phentsize", "cannot read file data",
                                                      "wrong ELF class", "object file has no", "ELF load command"};
  for (const std::string_view sign : broken) {
    if (text.find(sign) != std::string_view::npos) return LoadCode::invalid_elf;
  }
  return LoadCode::other;
}

class DlopenLoader final : public Loader {
 public:
  std::string_view name() const override { return "dlopen"; }

  LoadResult load(const std::string& path) override {
    LoadResult result;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed(last_error("make pipe"));
    Fd reading(ends[0]);
    Fd writing(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return failed(last_error("fork"));
    if (child == 0) load_and_check(path.c_str(), writing.get());
    writing.close();

    std::string text;
    std::array<char, 1024> buffer{};
    for (ssize_t n = 0; (n = ::read(reading.get(), buffer.data(), buffer.size())) != 0;) {
      if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
      else if (errno != EINTR) break;
    }
    const auto reaped = reap_forked(child);
    if (!reaped) return failed(reaped.error());
    const int status = reaped->raw();
    // Read after the child is done: whoever writes meanwhile is seen by the stamp in what was read.
    if (Result<std::string> bytes = read_file(path)) result.bytes = std::move(*bytes);
    if (WIFSIGNALED(status)) {
      result.code = WTERMSIG(status) == SIGBUS ? LoadCode::bus_error : LoadCode::crashed;
      result.message = std::string("died of signal ") + std::to_string(WTERMSIG(status)) + " in dlopen";
    } else if (WEXITSTATUS(status) == exit_dlopen_failed) {
      result.code = classify(text);
      result.message = text;
    } else if (WEXITSTATUS(status) != 0) {
      result.code = LoadCode::wrong_numbers;
      result.message = "the self-check found wrong numbers";
    }
    return result;
  }

 private:
  static LoadResult failed(const Error& error) {
    LoadResult result;
    result.code = LoadCode::other;
    result.message = error.message();
    return result;
  }
};

}  // namespace

Result<std::unique_ptr<Loader>> make_dlopen_loader(const LoaderOptions&) {
  return std::unique_ptr<Loader>(std::make_unique<DlopenLoader>());
}

}  // namespace jitrace
