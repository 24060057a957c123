#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/process.h"

namespace jitrace {

// A Python that has imported modules once and forks for each trial: what it forks runs the command's script as a fresh
// interpreter would, without the time that the imports take. See zygote.py and WaitingProcess. It ends with us.
class Zygote {
 public:
  struct Wanted {
    std::string libexec;
    std::string scratch;                // exists: socket and messages
    std::vector<std::string> command;   // {"python3", "script.py", ...}
    std::vector<std::string> modules;
  };
  // Why a command cannot be run by a zygote: a clause; empty if it can.
  static std::string refusal(const std::vector<std::string>& command);
  // The command that makes the same imports in the same place and ends.
  static Result<std::vector<std::string>> imports_alone(const Wanted& wanted);
  // Returns once it has imported everything and can fork; else with what it said. `interrupt` (borrowed, -1: none):
  // readable means ECANCELED.
  static Result<Zygote> start(const Wanted& wanted, int interrupt);

  const std::string& socket() const { return socket_; }

 private:
  Zygote(Process process, std::string socket) : process_(std::move(process)), socket_(std::move(socket)) {}
  Process process_;
  std::string socket_;
};

}  // namespace jitrace
