// Stands in a shadow toolkit (shadow.cc) for a compiler, a compiler's stage or a linker, and is told by its own path which.
// It announces, waits at its gate and then becomes the real tool by exec, so pid, parent and arguments stay.
//
// Points. `compile`: before cicc for nvcc, before `as` for g++ (JITRACE_COMPILE_AT says which): the last moment at which the
// source is read and the output not opened, and once an attempt. `output`: in the middle of writing what was asked for
// (ptxas for -cubin, as for -c, ld where one command goes from source to shared object). `link`: the same in a link step.
//
// A writer of the wanted output does not exec: the real tool writes a private file as this one's child, and the copy is made
// in that tool's own manner, as measured: ptxas opens in place with O_TRUNC, last of all; `as` opens the same inode with
// O_TRUNC at its start; ld unlinks, creates, writes, and sets the mode at the end.
//
// Without JITRACE_BOARD in the environment it only execs.

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "process/reaper.h"
#include "toolchain/tool.h"

namespace {

using namespace jitrace;

void say(const std::string& line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

[[noreturn]] void fail(const std::string& what) {
  say("stage_shim: " + what + ": " + std::strerror(errno) + "\n");
  ::_exit(127);
}

// The path by which this was started; argv[0] need not be one.
std::string own_path() {
  const auto* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return path == nullptr ? "" : path;
}

// bin/X and passes/X lie one level below the shadow's root, nvvm/bin/X two.
std::string find_real(const std::string& own, const std::string& name) {
  const std::string directory = own.find('/') == std::string::npos ? "." : own.substr(0, own.rfind('/'));
  for (const char* up : {"/../real/", "/../../real/"}) {
    std::string path = directory + up + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string text = real == nullptr ? path : real;
  std::free(real);
  return text;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// gcc's ccXXXXXX.o and nvcc's tmpxft_*: what one command hands from stage to stage.
bool is_intermediate(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.find("tmpxft_") != std::string_view::npos ||
         (name.size() == 10 && name.substr(0, 2) == "cc" && name.substr(8) == ".o");
}

struct Call {
  std::string name;            // ptxas, as, ld, …
  std::string real;            // path of the real tool
  std::vector<char*> argv;     // with the null at the end
  std::size_t output = 0;      // index of the argument behind -o; 0: none
};

ToolRole role_of(std::string_view name) {
  if (name == "nvcc" || name == "g++") return ToolRole::compiler;
  if (name == "ld") return ToolRole::linker;
  return ToolRole::stage;
}

[[noreturn]] void become(const Call& call) {
  ::execv(call.real.c_str(), call.argv.data());
  fail("exec " + call.real);
}

bool compiles_here(const Call& call) {
  const char* at = std::getenv("JITRACE_COMPILE_AT");
  return at != nullptr && call.name == at;
}

bool writes_output(const Call& call) {
  if (call.name != "ptxas" && call.name != "as" && call.name != "ld") return false;
  return call.output != 0 && !is_intermediate(call.argv[call.output]);
}

Point output_point(const Call& call) {
  if (call.name != "ld") return Point::output;
  for (std::size_t i = 1; i < call.argv.size() - 1; ++i) {
    if (is_intermediate(call.argv[i])) return Point::output;
  }
  return Point::link;
}

// The real tool as a child that does not outlive this process: a kill of the stage is a kill of the tool.
int run_privately(const Call& call, std::string& private_output) {
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self) ::_exit(137);
    std::vector<char*> argv = call.argv;
    argv[call.output] = private_output.data();
    ::execv(call.real.c_str(), argv.data());
    fail("exec " + call.real);
  }
  const auto reaped = reap_forked(child);
  const int status = reaped ? reaped->raw() : 127 << 8;
  return status;
}

[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) ::_exit(WEXITSTATUS(status));
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

void write_part(int file, std::string_view part, const std::string& path) {
  while (!part.empty()) {
    const ssize_t n = ::write(file, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write " + path);
    part.remove_prefix(static_cast<std::size_t>(n));
  }
}

int open_output(const Call& call, const std::string& path) {
  const int access = call.name == "ptxas" ? O_WRONLY : O_RDWR;
  return ::open(path.c_str(), access | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

[[noreturn]] void write_output(const Call& call, Tool& tool) {
  const std::string path = call.argv[call.output];
  const char* temporary = std::getenv("TMPDIR");
  std::string hidden = std::string(temporary == nullptr ? "/tmp" : temporary) + "/jitrace-" + std::to_string(::getpid()) +
                       "-" + call.name;
  const bool early = call.name != "ptxas";
  int file = -1;
  if (early) {
    if (call.name == "ld") ::unlink(path.c_str());
    tool.output(Tool::Output::begin, path);
    file = open_output(call, path);
    if (file < 0) become(call);  // the tool's own words for what is wrong
  }
  const int status = run_privately(call, hidden);
  Result<std::string> bytes = read_file(hidden);
  struct stat made {};
  const bool has_mode = ::stat(hidden.c_str(), &made) == 0;
  ::unlink(hidden.c_str());
  if (status != 0 || !bytes) {
    if (early) ::unlink(path.c_str());
    tool.end(status);
    end_as(status != 0 ? status : 1 << 8);
  }
  if (!early) {
    tool.output(Tool::Output::begin, path);
    file = open_output(call, path);
    if (file < 0) become(call);
  }
  const std::string_view whole = *bytes;
  write_part(file, whole.substr(0, whole.size() / 2), path);
  tool.output(Tool::Output::half, path);
  tool.reach(output_point(call), path);
  write_part(file, whole.substr(whole.size() / 2), path);
  ::close(file);
  if (call.name == "ld" && has_mode) ::chmod(path.c_str(), made.st_mode & 07777);
  tool.output(Tool::Output::done, path);
  tool.end(0);
  ::_exit(0);
}

}  // namespace

int main(int, char** argv) {
  const std::string own = own_path();
  Call call;
  call.name = base_name(own);
  call.real = find_real(own, call.name);
  if (call.real.empty()) {
    say("stage_shim: no real tool for " + own + "; it only works from a shadow toolkit\n");
    return 127;
  }
  for (char** word = argv; *word != nullptr; ++word) {
    if (std::string_view(*word) == "-o" && word[1] != nullptr) call.output = static_cast<std::size_t>(word - argv) + 1;
    call.argv.push_back(*word);
  }
  call.argv.push_back(nullptr);
  // gcc looks for its own parts from argv[0]; nvcc must, on the contrary, go on from the shadow's directory.
  std::string real_path;
  if (call.name == "g++") {
    real_path = resolved(call.real);
    call.argv[0] = real_path.data();
  }
  Tool tool = Tool::from_environment();
  if (!tool.listening()) become(call);
  tool.begin(role_of(call.name), arguments_text(argv));
  const char* output = call.output == 0 ? "" : call.argv[call.output];
  if (compiles_here(call)) tool.reach(Point::compile, output);
  if (writes_output(call)) write_output(call, tool);
  become(call);
}
