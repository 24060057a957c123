#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/process.h"

namespace jitrace {

// What a child does between its birth and exec. Prepared by the parent; apply() runs in the child, in the parent's
// memory and while the parent stands still, so it makes system calls and does nothing else.
class ChildSetup {
 public:
  explicit ChildSetup(const Command& command);
  // 0, or the errno of the call that failed.
  int apply() const;

 private:
  int place_descriptors() const;

  struct Move {
    int from;
    int to;
  };
  std::vector<Move> moves_;
  mutable std::vector<int> sources_;  // scratch of the child: where each move's source lies meanwhile
  std::vector<int> inherit_;
  int first_free_ = 3;                // above every target
  const char* directory_ = nullptr;   // borrowed from the command
  Command::Group group_;
  std::optional<int> parent_death_signal_;
  std::optional<std::uint64_t> descriptor_limit_;
  pid_t parent_ = -1;
};

// Blocks every signal, those of the threading library too, while it lives: a handler that ran in a child which shares
// our memory would run on our data.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

}  // namespace jitrace
