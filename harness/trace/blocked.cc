#include "trace/blocked.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "process/proc.h"
#include "trace/decode.h"

namespace jitrace {
namespace {

std::string task_file(pid_t process, pid_t thread, const char* name) {
  return "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/" + name;
}

std::string first_bytes(const std::string& path) {
  char buffer[4096];
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const Fd owned(fd);
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  return got <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
}

std::string target_of(pid_t process, std::uint64_t fd) {
  char buffer[PATH_MAX];
  const std::string link = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(static_cast<int>(fd));
  const ssize_t length = ::readlink(link.c_str(), buffer, sizeof buffer);
  return length <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(length));
}

bool starts_a_child(std::uint64_t number) { return number == SYS_vfork || number == SYS_clone || number == SYS_clone3; }

// Of the waits that stop nobody, and so stand in no table of calls.
std::string name_of_wait(std::uint64_t number) {
  switch (number) {
    case SYS_read: return "read";
    case SYS_readv: return "readv";
    case SYS_poll: return "poll";
    case SYS_ppoll: return "ppoll";
    case SYS_select: return "select";
    case SYS_pselect6: return "pselect";
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: return "epoll_wait";
    case SYS_futex: return "futex";
    case SYS_pause: return "pause";
    case SYS_rt_sigsuspend: return "sigsuspend";
    case SYS_rt_sigtimedwait: return "sigtimedwait";
    case SYS_recvfrom: return "recv";
    case SYS_recvmsg: return "recvmsg";
    case SYS_sendto: return "send";
    case SYS_sendmsg: return "sendmsg";
    case SYS_connect: return "connect";
    case SYS_accept:
    case SYS_accept4: return "accept";
    case SYS_semop:
    case SYS_semtimedop: return "semop";
    case SYS_msgrcv: return "msgrcv";
    case SYS_mq_timedreceive: return "mq_receive";
    default: return name_of_call(number);
  }
}

// A wait's length in milliseconds as poll takes it: negative is for ever.
void milliseconds_argument(BlockedThread& out, std::uint64_t value) {
  const int time = static_cast<int>(value);
  if (time >= 0) out.after = milliseconds(time);
}

void classify(BlockedThread& out, pid_t process, pid_t thread, const VirtualClock& clock) {
  using On = BlockedThread::On;
  const TraceeMemory memory(thread);
  const auto timespec_argument = [&](int index) {
    if (out.args[index] != 0) out.after = read_timespec(memory, out.args[index]);
  };
  out.what = name_of_wait(out.number);
  switch (out.number) {
    case SYS_wait4:
    case SYS_waitid:
      out.on = On::child;
      out.what = "waits for a child";
      return;
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3:
      out.on = On::child;
      out.what = "waits for the exec of a child";
      return;
    case SYS_futex: {
      out.on = On::thread;
      const int operation = static_cast<int>(out.args[1]) & FUTEX_CMD_MASK;
      if (out.args[3] == 0) return;
      if (operation == FUTEX_WAIT) return timespec_argument(3);
      const auto until = read_timespec(memory, out.args[3]);
      const auto seen = clock.read((out.args[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
      if (until && seen) out.due = clock.now() + (*until - *seen);
      return;
    }
    case SYS_poll:
      out.on = On::events;
      return milliseconds_argument(out, out.args[2]);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      out.on = On::events;
      return milliseconds_argument(out, out.args[3]);
    case SYS_epoll_pwait2:
      out.on = On::events;
      return timespec_argument(3);
    case SYS_ppoll:
      out.on = On::events;
      return timespec_argument(2);
    case SYS_pselect6:
      out.on = On::events;
      return timespec_argument(4);
    case SYS_select:
      out.on = On::events;
      if (out.args[4] != 0) out.after = read_timeval(memory, out.args[4]);
      return;
    case SYS_rt_sigtimedwait:
      out.on = On::events;
      return timespec_argument(2);
    case SYS_pause:
    case SYS_rt_sigsuspend:
      out.on = On::events;
      return;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev: {
      const std::string target = target_of(process, out.args[0]);
      if (target.starts_with("pipe:") || target.starts_with("anon_inode:")) out.on = On::pipe;
      out.what += " " + target;
      return;
    }
    default:
      return;
  }
}

}  // namespace

bool sleeps_deep_in_fork(pid_t process, pid_t thread) {
  if (proc_status(thread).state() != 'D') return false;
  const std::string call = first_bytes(task_file(process, thread, "syscall"));
  return starts_a_child(std::strtoull(call.c_str(), nullptr, 10));
}

bool is_ended_leader(pid_t process, pid_t thread) {
  return process == thread && proc_status(thread).state() == 'Z';
}

std::optional<BlockedThread> blocked_thread(pid_t process, pid_t thread, Vfork vfork, const VirtualClock& clock) {
  // Of one that runs it says so, at half of what a status costs.
  const std::string call = first_bytes(task_file(process, thread, "syscall"));
  if (call.starts_with("running")) return std::nullopt;
  const ProcStatus status = proc_status(thread);
  const char state = status.state();
  if (state != 'S' && (state != 'D' || vfork == Vfork::no)) return std::nullopt;
  BlockedThread out;
  unsigned long long value[8];
  long number = -1;
  if (std::sscanf(call.c_str(), "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &value[0], &value[1], &value[2],
                  &value[3], &value[4], &value[5], &value[6], &value[7]) != 9 ||
      number < 0) {
    return std::nullopt;
  }
  out.number = static_cast<std::uint64_t>(number);
  if (state == 'D' && !starts_a_child(out.number)) return std::nullopt;
  for (std::size_t i = 0; i < out.args.size(); ++i) out.args[i] = value[i];
  out.call = call;
  out.key = call + status.field("voluntary_ctxt_switches") + "," + status.field("nonvoluntary_ctxt_switches");
  classify(out, process, thread, clock);
  return out;
}

bool has_deliverable_signal(pid_t thread) {
  const ProcStatus status = proc_status(thread);
  const auto mask = [&](const char* name) { return std::strtoull(status.field(name).c_str(), nullptr, 16); };
  const std::uint64_t pending = (mask("SigPnd") | mask("ShdPnd")) & ~mask("SigBlk") & ~mask("SigIgn");
  if (pending == 0) return false;
  const auto bit = [](int number) { return 1ULL << (number - 1); };
  // Without a handler these end no wait; a stopped one waits on afterwards.
  const std::uint64_t harmless = bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT) | bit(SIGSTOP) |
                                 bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);
  return (pending & (mask("SigCgt") | ~harmless)) != 0;
}

}  // namespace jitrace
