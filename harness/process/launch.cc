// The one file that includes Boost.Process and asio: they cost seconds to compile.
//
// Boost 1.81 starts processes by fork, whose cost grows with our memory; its vfork_launcher calls the context's
// notify_fork(fork_child) in the memory that it shares with us, and our reactor loses its descriptor. This launcher
// fits the same concept (any initialiser of Boost.Process works with it), shares the memory, and tells the context
// nothing: the child touches no asio object between its birth and exec.
#include "process/launch.h"

#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/optional.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <type_traits>

// Its own path type would need a library to link. With std's, 1.81 forgets to include or to name what follows.
#define BOOST_PROCESS_USE_STD_FS
namespace boost::process::v2 {
using std::decay;
using std::is_convertible;
}  // namespace boost::process::v2

#include <boost/asio/io_context.hpp>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/start_dir.hpp>

#include "base/file.h"
#include "base/text.h"
#include "process/child_setup.h"
#include "process/reaper.h"

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer takes clone for a fork and changes its own state in the child, which here is ours. The C library has
// the same function by a second name.
extern "C" int __clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept;
#define JITRACE_CLONE __clone
#else
#define JITRACE_CLONE ::clone
#endif

namespace jitrace {
namespace {

namespace process = boost::process::v2;
using boost::system::error_code;

// What the child needs of the stack is a few frames of system calls.
constexpr std::size_t child_stack_bytes = 64 * 1024;

template <class Body>
int run_body(void* body) {
  (*static_cast<Body*>(body))();
  return 0;
}

// Runs `body` in a child that shares our memory, on a stack of its own, while this thread waits for its exec or exit.
template <class Body>
pid_t clone_sharing_memory(Body& body, int* pidfd) {
  alignas(16) char stack[child_stack_bytes];
  constexpr int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  const pid_t pid = JITRACE_CLONE(&run_body<Body>, stack + sizeof stack, flags, &body, pidfd);
  // The child's frames never returned: AddressSanitizer would find their red zones where ours come to lie.
  ASAN_UNPOISON_MEMORY_REGION(stack, sizeof stack);
  return pid;
}

struct SharingLauncher {
  const char* const* env = ::environ;  // initialisers may replace it
  int pid = -1;
  std::vector<int> fd_whitelist;       // initialisers may add to it; ChildSetup closes descriptors
  Fd pidfd;

  template <class Executor, class... Inits>
  process::basic_process<Executor> operator()(Executor executor, error_code& ec, const std::filesystem::path& program,
                                              const char* const* argv, Inits&&... inits) {
    namespace detail = process::posix::detail;
    ec = detail::on_setup(*this, program, argv, inits...);
    if (ec) {
      detail::on_error(*this, program, argv, ec, inits...);
      return process::basic_process<Executor>(executor);
    }
    int child_errno = 0;
    auto body = [&] {
      const error_code setup = detail::on_exec_setup(*this, program, argv, inits...);
      child_errno = setup.value();
      if (child_errno == 0) {
        ::execve(program.c_str(), const_cast<char* const*>(argv), const_cast<char* const*>(env));
        child_errno = errno;
      }
      ::syscall(SYS_exit_group, 127);  // what libc and sanitizers do at an exit is not the child's to do
    };
    int descriptor = -1;
    {
      const SignalsBlocked blocked;
      pid = clone_sharing_memory(body, &descriptor);
      if (pid < 0) child_errno = errno;
    }
    pidfd = Fd(descriptor);
    if (child_errno != 0) {
      ec.assign(child_errno, boost::system::system_category());
      if (pid < 0) detail::on_fork_error(*this, program, argv, ec, inits...);
      else if (!reap(pidfd)) check_failed("a child that could not exec is reaped", __FILE__, __LINE__);
      detail::on_error(*this, program, argv, ec, inits...);
      return process::basic_process<Executor>(executor);
    }
    detail::on_success(*this, program, argv, inits...);
    return process::basic_process<Executor>(executor, pid, ::fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 0));
  }
};

// ChildSetup as an initialiser of Boost.Process.
struct SetUpChild {
  const ChildSetup& setup;
  error_code on_exec_setup(SharingLauncher&, const std::filesystem::path&, const char* const*&) const {
    return {setup.apply(), boost::system::system_category()};
  }
};

std::vector<const char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& s : strings) pointers.push_back(s.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

std::string search_path(const Command& command) {
  for (const std::string& assignment : command.environment) {
    if (assignment.starts_with("PATH=")) return assignment.substr(5);
  }
  const char* own = ::getenv("PATH");
  return own != nullptr ? own : "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

Result<std::string> find_program(const Command& command) {
  const std::string& name = command.argv.front();
  if (name.find('/') != std::string::npos) {
    // Relative to where it will run, which is ours only where nothing else was asked for.
    const bool known = name.starts_with('/') || command.directory.empty();
    if (known && ::access(name.c_str(), X_OK) != 0) return last_error("start", name);
    return name;
  }
  int code = ENOENT;
  for (const std::string& directory : split(search_path(command), ':')) {
    std::string candidate = join(directory.empty() ? "." : directory, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (errno == EACCES) code = EACCES;
  }
  return make_error("start", name, code, "it is not on PATH");
}

Result<Launched> launch(const Command& command) {
  JITRACE_CHECK(!command.argv.empty());
  TRY_ASSIGN(const std::string program, find_program(command));
  const auto argv = pointers_to(command.argv);
  const auto environment = pointers_to(command.environment);
  const ChildSetup setup(command);
  SharingLauncher launcher;
  if (!command.environment.empty()) launcher.env = environment.data();
  error_code ec;
  try {
    boost::asio::io_context context;
    launcher(context.get_executor(), ec, program, argv.data(), SetUpChild{setup}).detach();
  } catch (const boost::system::system_error& error) {
    // asio could not take the descriptor in. A child that started must not stay behind.
    if (launcher.pidfd) {
      ::kill(launcher.pid, SIGKILL);
      TRY(reap(launcher.pidfd));
    }
    ec = error.code();
  }
  if (ec) return make_error("start", program, ec.value());
  return Launched{launcher.pid, std::move(launcher.pidfd)};
}

}  // namespace jitrace
