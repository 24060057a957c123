#include "trial/lane_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "process/process.h"
#include "trace/elsewhere.h"

namespace jitrace {
namespace {

struct Running {
  std::size_t plan = 0;
  Process process;
  std::string scratch, history, errors;
};

// The CPUs that we may use.
std::vector<int> cpus() {
  cpu_set_t set;
  std::vector<int> out;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) out.push_back(cpu);
  }
  return out;
}

Result<void> fresh_dir(const std::string& path) {
  TRY(remove_tree(path));
  return make_dirs(path);
}

// After a lane that did not come to its end: what its trial made outside of its own directory.
void clean_up(const std::string& scratch, const std::vector<std::string>& passing) {
  Elsewhere::clean_up(join(join(scratch, "out"), Elsewhere::journal_name), passing);
}

std::string somebody_elses(const std::vector<std::string>& passing) {
  const auto found = std::find_if(passing.begin(), passing.end(), exists);
  return found == passing.end() ? std::string() : *found;
}

Result<History> read_history(const Running& running, const WaitStatus& status) {
  if (!status.is_exit(0)) {
    const auto said = read_file(running.errors);
    const std::string line = said ? said->substr(0, said->find('\n')) : std::string();
    const std::size_t space = line.find(' ');
    const auto code = parse_int(line.substr(0, space));
    if (!code || space == std::string::npos) return plain_error("carry out a traced plan", line.empty() ? status.describe() : line);
    return make_error("carry out a traced plan", "", static_cast<int>(*code), line.substr(space + 1));
  }
  TRY_ASSIGN(const std::string text, read_file(running.history));
  return History::parse(text);
}

}  // namespace

int LaneRunner::side_by_side() { return ::geteuid() == 0 ? static_cast<int>(cpus().size()) : 1; }

Result<void> LaneRunner::try_out(const std::string& libexec) {
  TRY_ASSIGN(const TempDir scratch, TempDir::create(std::filesystem::temp_directory_path().string(), "jitrace-probe"));
  Places places;
  places.libexec = libexec;
  places.root = scratch.path();
  places.cache = join(scratch.path(), "own/cache");
  places.scratch = join(scratch.path(), "scratch");
  TRY(make_dirs(places.cache));
  TracePlan plan;
  plan.command = {"true"};
  Result<void> result;
  TRY(LaneRunner(places).run({plan}, [&result](std::size_t, Result<History> history) {
    if (!history) result = history.error();
  }));
  return result;
}

Result<void> LaneRunner::run(const std::vector<TracePlan>& plans, const Done& done) {
  const std::vector<int> on = cpus();
  std::vector<std::optional<Running>> lanes(static_cast<std::size_t>(places_.lanes));
  const auto begin = [&](std::size_t number, std::size_t plan) -> Result<void> {
    const std::string name = "lane-" + std::to_string(number);
    const std::string scratch = join(places_.scratch, name), backing = join(places_.root, name);
    clean_up(scratch, places_.passing);
    TRY(fresh_dir(scratch));
    const std::string plan_file = join(scratch, "plan"), history = join(scratch, "history"), errors = join(scratch, "errors");
    TracePlan placed = plans[plan];
    placed.cache = places_.cache;
    placed.around = parent_of(places_.cache);
    TRY(write_file(plan_file, placed.text()));
    TRY(make_dirs(join(scratch, "out")));
    Command command;
    command.argv = {join(places_.libexec, "lane"), plan_file, history, join(places_.libexec, "traced"), join(scratch, "out")};
    if (places_.lanes > 1) {
      TRY(fresh_dir(backing));
      command.argv.push_back(backing);
    } else {
      TRY(fresh_dir(placed.around));
      TRY(fresh_dir(join(places_.root, "tmp")));
    }
    command.environment = environment_with({"JITRACE_LANE_CPU=" + std::to_string(on[number % on.size()])});
    TRY_ASSIGN(const Fd error_file, open_fd(errors, O_WRONLY | O_CREAT | O_TRUNC));
    command.err = error_file.get();
    command.group = Command::Group::own_group;
    command.parent_death_signal = SIGKILL;  // and its tracees die with it
    TRY_ASSIGN(Process process, Process::spawn(command));
    lanes[number].emplace(Running{plan, std::move(process), scratch, history, errors});
    return {};
  };
  std::size_t next = 0, busy = 0;
  for (;;) {
    for (std::size_t i = 0; i < lanes.size() && next < plans.size();) {
      if (lanes[i]) {
        ++i;
        continue;
      }
      if (const std::string other = somebody_elses(places_.passing); !other.empty()) {
        done(next++, make_error("begin a trial", other, EBUSY, "it is there, and no trial left it: does another build run here?"));
        continue;
      }
      TRY(begin(i, next++));
      ++busy;
    }
    if (busy == 0) return {};
    std::vector<pollfd> watched{{places_.interrupt, POLLIN, 0}};
    for (const auto& lane : lanes) watched.push_back({lane ? lane->process.pidfd().get() : -1, POLLIN, 0});
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return last_error("wait for the lanes");
    if ((watched[0].revents & POLLIN) != 0) {
      for (auto& lane : lanes) {
        if (!lane) continue;
        const std::string scratch = lane->scratch;
        lane.reset();  // ended, and with it what it traces
        clean_up(scratch, places_.passing);
      }
      return make_error("carry out traced plans", "", ECANCELED);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (!lanes[i]) continue;
      TRY_ASSIGN(const auto status, lanes[i]->process.poll());
      if (!status) continue;
      const std::size_t plan = lanes[i]->plan;
      Result<History> history = read_history(*lanes[i], *status);
      clean_up(lanes[i]->scratch, places_.passing);
      lanes[i].reset();
      --busy;
      done(plan, std::move(history));
    }
  }
}

}  // namespace jitrace
