// Processes that a zygote forks in place of an exec.
#include <sched.h>

#include "trace/supervisor.h"
#include "trace/zygote_client.h"

namespace jitrace {

Result<int> Supervisor::start_forked(const std::string& zygote, const Command& command, int worker,
                                     const std::string& letter) {
  const Stops stops = options_.time == Options::Time::moved ? Stops::files_and_clocks : Stops::files;
  TRY_ASSIGN(WaitingProcess waiting, WaitingProcess::ask(zygote, command, stops));
  TRY(seize(waiting.pid(), command.argv[1]));
  // Ours is where the lane stays; the zygote's is any.
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) == 0) (void)::sched_setaffinity(waiting.pid(), sizeof cpus, &cpus);
  TracedProcess& process = add_process(waiting.pid(), -1, worker, letter);
  for (const std::string& word : command.argv) process.arguments += (process.arguments.empty() ? "" : " ") + word;
  threads_[waiting.pid()] = Thread(waiting.pid(), process.index);
  director_.started(process);
  TRY(waiting.let_go());
  return process.index;
}

}  // namespace jitrace
