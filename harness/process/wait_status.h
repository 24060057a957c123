#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jitrace {

std::string name_of_signal(int number);                   // "SIGKILL", "SIGRTMIN+2", "signal 99"
std::optional<int> parse_signal(std::string_view name);   // "TERM", "SIGTERM"

// How a child reported, as one closed type. Every exit code and every signal survives the round trip through raw().
class WaitStatus {
 public:
  enum class Kind { exited, killed, stopped, continued };

  static WaitStatus from_raw(int status);                 // as waitpid gives it
  static WaitStatus from_waitid(int code, int status);
  static WaitStatus exited(int code);
  static WaitStatus killed(int signal);

  Kind kind() const { return kind_; }
  bool is_exit(int code) const { return kind_ == Kind::exited && value_ == code; }
  bool is_kill(int signal) const { return kind_ == Kind::killed && value_ == signal; }
  bool is_end() const { return kind_ == Kind::exited || kind_ == Kind::killed; }
  int value() const { return value_; }                    // exit code or signal number
  int raw() const;
  std::string describe() const;                           // "exit 137", "killed by SIGKILL", "stopped by SIGSTOP"

 private:
  WaitStatus(Kind kind, int value) : kind_(kind), value_(value) {}
  Kind kind_;
  int value_;
};

}  // namespace jitrace
