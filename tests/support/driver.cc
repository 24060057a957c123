#include "support/driver.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"

namespace jitrace::test {

Driver::Driver(Process process, Fd out, Fd err)
    : process_(std::move(process)), out_pipe_(std::move(out)), err_pipe_(std::move(err)), started_(now()) {}

Result<Driver> Driver::start(const Call& call) {
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return last_error("create a pipe");
  Fd out_reader(out[0]);
  const Fd out_writer(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return last_error("create a pipe");
  Fd err_reader(err[0]);
  const Fd err_writer(err[1]);
  TRY_ASSIGN(const Fd null, open_fd("/dev/null", O_RDONLY));
  Command command;
  command.argv = {call.program};
  command.argv.insert(command.argv.end(), call.arguments.begin(), call.arguments.end());
  command.directory = call.directory;
  command.environment = environment_with(call.environment);
  command.in = null.get();
  command.out = out_writer.get();
  command.err = err_writer.get();
  command.group = Command::Group::own_session;
  TRY_ASSIGN(Process process, Process::spawn(command));
  return Driver(std::move(process), std::move(out_reader), std::move(err_reader));
}

void Driver::read_from(Fd& pipe, std::string& text) {
  char buffer[65536];
  const ssize_t n = ::read(pipe.get(), buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  else if (n == 0) pipe.close();
}

template <class Done>
bool Driver::read_until(Nanoseconds deadline, const Done& done) {
  for (;;) {
    if (done()) return true;
    const Nanoseconds left = deadline - now();
    if (left <= 0) return false;
    pollfd fds[] = {{out_pipe_.get(), POLLIN, 0}, {err_pipe_.get(), POLLIN, 0}, {process_.pidfd().get(), POLLIN, 0}};
    if (::poll(fds, 3, static_cast<int>(left / milliseconds(1)) + 1) < 0 && errno != EINTR) return false;
    if (fds[0].revents != 0) read_from(out_pipe_, out_);
    if (fds[1].revents != 0) read_from(err_pipe_, err_);
    // What is still in the pipes comes first; a descendant that keeps them open must not keep us.
    if (fds[0].revents == 0 && fds[1].revents == 0 && fds[2].revents != 0) return done();
  }
}

bool Driver::wait_for_error(const std::string& text, Nanoseconds patience) {
  return read_until(now() + patience, [&] { return err_.find(text) != std::string::npos; });
}

bool Driver::wait_for_file(const std::string& path, Nanoseconds patience) {
  // Looked at again each time that the program says something, and every 20 ms.
  for (const Nanoseconds deadline = now() + patience; !exists(path) && now() < deadline;) {
    if (const auto ended = process_.poll(); !ended || *ended) break;
    (void)read_until(now() + milliseconds(20), [] { return false; });
  }
  return exists(path);
}

Ran Driver::finish(Nanoseconds patience) {
  const Nanoseconds deadline = now() + patience;
  (void)read_until(deadline, [] { return false; });
  Ran ran;
  ran.took = now() - started_;
  // Waited for, not polled: what a tracer (LeakSanitizer's, at the end of a program) has attached is dead to a poll of its
  // pidfd, but waitid(2) keeps it from its parent until the tracer lets go.
  pollfd ended{process_.pidfd().get(), POLLIN, 0};
  const bool in_time = ::poll(&ended, 1, 0) > 0;
  if (!in_time) (void)process_.signal(SIGKILL);
  const auto status = process_.wait();
  if (status && in_time) ran.code = status->kind() == WaitStatus::Kind::exited ? status->value() : 128 + status->value();
  ran.out = out_;
  ran.err = err_;
  return ran;
}

}  // namespace jitrace::test
