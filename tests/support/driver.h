#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/process.h"

namespace jitrace::test {

// How a run of the program ended and what it said.
struct Ran {
  int code = -1;  // the exit code; 128 + n if signal n ended it; -1 if it had to be ended by the test
  std::string out;
  std::string err;
  Nanoseconds took = 0;
};

struct Call {
  std::string program;
  std::vector<std::string> arguments;
  std::string directory;
  std::vector<std::string> environment;  // laid over this process's own
};

// A jitrace that runs. In a session of its own, as in a terminal of its own.
class Driver {
 public:
  static Result<Driver> start(const Call& call);

  Process& process() { return process_; }
  // Waits; after `patience` it is killed and the code is -1. Only what hangs is waited for so long.
  Ran finish(Nanoseconds patience = seconds(900));
  // Waits until the file is there, which the program or one of its tools makes.
  bool wait_for_file(const std::string& path, Nanoseconds patience = seconds(60));
  // Waits until standard error holds `text`, for at most `patience`, on its pipe.
  bool wait_for_error(const std::string& text, Nanoseconds patience = seconds(60));

 private:
  Driver(Process process, Fd out, Fd err);
  void read_from(Fd& pipe, std::string& text);
  // Reads both pipes until `done` says so, the program has ended, or the deadline has passed.
  template <class Done>
  bool read_until(Nanoseconds deadline, const Done& done);

  Process process_;
  Fd out_pipe_;
  Fd err_pipe_;
  std::string out_;
  std::string err_;
  Nanoseconds started_;
};

}  // namespace jitrace::test
