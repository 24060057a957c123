// A scripted compiler with nvcc's shape: the driver starts `sh -c`, the shell starts the stage (this program again),
// and only the stage, a grandchild, touches source and output. So killing driver, shell and stage are three faults.
//
//   fake_compiler -cubin  -arch=ARCH -o OUT SOURCE     one step; OUT in place and late, as ptxas does
//   fake_compiler -c      -arch=ARCH -o OUT SOURCE     an object; in place, as `as` does
//   fake_compiler -shared            -o OUT OBJECT     unlink, create, chmod, as ld does
//
// JITRACE_FAKE_NS is how long it takes (default: no time at all). It is started some hundred times a second.

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "process/reaper.h"
#include "toolchain/fake_artifact.h"
#include "toolchain/tool.h"

namespace {

using namespace jitrace;

enum class Mode { cubin, object, link };

struct Job {
  Mode mode = Mode::cubin;
  std::string arch;
  std::string input;
  std::string output;
};

void say(const std::string& line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

// A part of the whole duration, in hundredths.
void take_time(std::int64_t hundredths) {
  const char* text = std::getenv("JITRACE_FAKE_NS");
  if (text == nullptr) return;
  const std::int64_t duration = std::strtoll(text, nullptr, 10) / 100 * hundredths;
  if (duration <= 0) return;
  timespec left{duration / 1'000'000'000, duration % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

bool write_part(const Fd& file, std::string_view part, const std::string& path) {
  if (write_all(file, part, path)) return true;
  say("fatal   : Could not write output file '" + path + "'\n");
  return false;
}

// Begin, half, the gate, the rest: what every writer does in its own manner of opening.
int write_output(Tool& tool, const std::string& path, std::string_view bytes, int flags, Point point) {
  tool.output(Tool::Output::begin, path);
  const Result<Fd> file = open_fd(path, flags, 0666);
  if (!file) {
    say("fatal   : Could not open output file '" + path + "'\n");
    return 1;
  }
  const std::size_t half = bytes.size() / 2;
  if (!write_part(*file, bytes.substr(0, half), path)) return 1;
  tool.output(Tool::Output::half, path);
  tool.reach(point, path);
  take_time(20);
  if (!write_part(*file, bytes.substr(half), path)) return 1;
  tool.output(Tool::Output::done, path);
  return 0;
}

// The line of the source that begins with `directive`, or nothing; `number` counts from 1.
std::string_view find_line(std::string_view source, std::string_view directive, int& number) {
  number = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    ++number;
    if (line.substr(0, directive.size()) == directive) return line;
    at = end + 1;
  }
  return {};
}

int compile(Tool& tool, const Job& job) {
  const Result<std::string> source = read_file(job.input);
  if (!source) {
    say("cc1plus: fatal error: " + job.input + ": " + std::strerror(source.error().code) + "\ncompilation terminated.\n");
    return 1;
  }
  int line = 0;
  if (const std::string_view error = find_line(*source, "#error", line); !error.empty()) {
    say(job.input + ":" + std::to_string(line) + ":2: error: " + std::string(error) + "\n");
    return 1;
  }
  tool.reach(Point::compile, job.output);
  if (!find_line(*source, "#pragma jitrace_hang", line).empty()) {
    for (;;) ::pause();
  }
  take_time(80);
  const FakeIdentity identity{tool.attempt(), tool.key(), tool.builder(), job.arch};
  const FakeForm form = job.mode == Mode::object ? FakeForm::object : FakeForm::linked;
  const int access = job.mode == Mode::object ? O_RDWR : O_WRONLY;
  return write_output(tool, job.output, make_fake_artifact(identity, form, *source), access | O_CREAT | O_TRUNC,
                      Point::output);
}

int link(Tool& tool, const Job& job) {
  const Result<std::string> object = read_file(job.input);
  if (!object) {
    say("/usr/bin/ld: cannot find " + job.input + ": " + std::strerror(object.error().code) +
        "\ncollect2: error: ld returned 1 exit status\n");
    return 1;
  }
  const std::string bytes = link_fake_artifact(*object);
  if (bytes.empty()) {
    say("/usr/bin/ld: " + job.input + ": file not recognized: file format not recognized\n"
        "collect2: error: ld returned 1 exit status\n");
    return 1;
  }
  ::unlink(job.output.c_str());
  const int code = write_output(tool, job.output, bytes, O_RDWR | O_CREAT | O_TRUNC, Point::link);
  if (code == 0) ::chmod(job.output.c_str(), 0755);
  return code;
}

int run_stage(const Job& job, char** argv) {
  Tool tool = Tool::from_environment();
  tool.begin(job.mode == Mode::link ? ToolRole::linker : ToolRole::stage, arguments_text(argv));
  const int code = job.mode == Mode::link ? link(tool, job) : compile(tool, job);
  tool.end(code << 8);
  return code;
}

int run_driver(const Job& job, char** argv) {
  Tool tool = Tool::from_environment();
  tool.begin(ToolRole::compiler, arguments_text(argv));
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) return 70;
  constexpr std::array<std::string_view, 3> flags = {"-cubin", "-c", "-shared"};
  // "; exit $?" keeps the shell between, as nvcc's command lines do.
  const std::string command = shell_quoted(self.data()) + " --stage " +
                              std::string(flags[static_cast<std::size_t>(job.mode)]) + " " + shell_quoted("-arch=" + job.arch) +
                              " -o " + shell_quoted(job.output) + " " + shell_quoted(job.input) + "; exit $?";
  std::string words[] = {"sh", "-c", command};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  if (const int error = ::posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments.data(), environ); error != 0) {
    say(std::string("fake_compiler: cannot start sh: ") + std::strerror(error) + "\n");
    tool.end(1 << 8);
    return 1;
  }
  const auto reaped = reap_forked(child);
  const int status = reaped ? reaped->raw() : 127 << 8;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) say("fake_compiler error : 'stage' died due to signal " + std::to_string(WTERMSIG(status)) + "\n");
  tool.end(code << 8);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  bool stage = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--version") {
      std::puts("fake_compiler 1.0");
      return 0;
    }
    if (word == "--stage") stage = true;
    else if (word == "-cubin") job.mode = Mode::cubin;
    else if (word == "-c") job.mode = Mode::object;
    else if (word == "-shared") job.mode = Mode::link;
    else if (word.substr(0, 6) == "-arch=") job.arch = word.substr(6);
    else if (word == "-o" && i + 1 < argc) job.output = argv[++i];
    else job.input = word;
  }
  if (job.input.empty() || job.output.empty()) {
    say("usage: fake_compiler -cubin|-c|-shared [-arch=ARCH] -o OUT IN\n");
    return 64;
  }
  return stage ? run_stage(job, argv) : run_driver(job, argv);
}
