#include "trace/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "trace/lane_parts.h"
#include "trace/zygote_client.h"

namespace jitrace {
namespace {

constexpr int listener_in_child = 100;  // beyond what modules open: they find the numbers that they would find alone

// The program behind the name: a shim or a link on PATH starts others before it is Python.
Result<std::string> interpreter_of(const std::string& name) {
  Command ask;
  ask.argv = {name, "-c", "import sys; print(sys.executable)"};
  TRY_ASSIGN(const Finished finished, run_to_end(ask));
  const std::string program = trimmed(finished.output);
  const bool found = finished.status.is_exit(0) && program.starts_with('/');
  if (!found) return make_error("find the program of", name, 0, program);
  return program;
}

Result<std::vector<std::string>> python_line(const Zygote::Wanted& wanted, const std::string& listener) {
  TRY_ASSIGN(const std::string python, interpreter_of(wanted.command[0]));
  std::vector<std::string> argv{python, join(wanted.libexec, "zygote.py"), listener, wanted.command[1]};
  argv.insert(argv.end(), wanted.modules.begin(), wanted.modules.end());
  return argv;
}

Error said(const std::string& log, const std::string& otherwise) {
  const auto text = read_file(log);
  const std::string words = text ? trimmed(*text) : std::string();
  const std::string last = words.substr(words.rfind('\n') + 1);  // npos + 1 is 0
  return plain_error("preload modules", last.empty() ? otherwise : last);
}

}  // namespace

std::string Zygote::refusal(const std::vector<std::string>& command) {
  const std::string first = command.empty() ? "" : base_of(command[0]);
  const bool python = first == "python" || first == "python3" || first.starts_with("python3.");
  if (!python) return "modules can only be preloaded for a python3, and the command starts with " + first;
  if (command.size() < 2 || command[1].starts_with('-')) {
    return "modules can only be preloaded for python3 SCRIPT, without flags between the two";
  }
  return {};
}

Result<std::vector<std::string>> Zygote::imports_alone(const Wanted& wanted) { return python_line(wanted, "-"); }

Result<Zygote> Zygote::start(const Wanted& wanted, int interrupt) {
  const std::string socket = join(wanted.scratch, "zygote.socket"), log = join(wanted.scratch, "zygote.log");
  TRY(remove_file(socket));
  TRY_ASSIGN(Fd listener, listen_for_zygote(socket));
  TRY_ASSIGN(const Fd knock, knock_at_zygote(socket));
  TRY_ASSIGN(const Fd nothing, open_fd("/dev/null", O_RDONLY));
  TRY_ASSIGN(const Fd messages, open_fd(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND));
  TRY_ASSIGN(const auto line, python_line(wanted, std::to_string(listener_in_child)));
  Command command;
  command.argv = {join(wanted.libexec, "zygote")};
  command.argv.insert(command.argv.end(), line.begin(), line.end());
  command.in = nothing.get();
  command.out = messages.get();
  command.err = messages.get();
  command.place = {{listener.get(), listener_in_child}};
  command.group = Command::Group::own_group;      // ^C is for us
  command.parent_death_signal = SIGKILL;
  TRY_ASSIGN(Process process, Process::spawn(command));
  listener.close();  // once it ends, nobody listens
  for (;;) {
    pollfd watched[] = {{knock.get(), POLLIN, 0}, {interrupt, POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return last_error("wait for the preloaded modules");
    }
    if ((watched[1].revents & POLLIN) != 0) return make_error("preload modules", "", ECANCELED);
    char word[sizeof "ready"] = {};
    const ssize_t n = ::read(knock.get(), word, sizeof word);
    if (n < 0 && errno == EINTR) continue;
    if (n == sizeof word && std::memcmp(word, "ready\n", sizeof word) == 0) break;
    TRY_ASSIGN(const WaitStatus status, process.wait());
    return said(log, status.describe());
  }
  return Zygote(std::move(process), socket);
}

}  // namespace jitrace
