#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/tape.h"

namespace jitrace {

// What a program is about to be started with.
struct TapeKey {
  std::string program;  // the path that is executed, absolute
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // what compilers read, "NAME=value"
  std::string directory;
  TapeNames names;

  std::uint64_t digest() const;  // equal for two runs that differ in their names only
};

// The tapes of a sweep, in a directory that its lanes share. A tape is a directory there, which appears whole: "head",
// "body" and the bytes. For each playing comes a directory in it: "names", and a link to the player by the name of the
// program, so that the process keeps its name.
class TapeStore {
 public:
  TapeStore(std::string directory, std::string player) : directory_(std::move(directory)), player_(std::move(player)) {}

  // What to execute instead: there is a tape of this key, and each of its inputs and looks is as it was.
  std::optional<std::string> find(const TapeKey& key) const;
  Result<void> add(const TapeKey& key, const Tape& tape) const;
  // Why there will be no tape of a run, one line each in "refused".
  void refused(const std::string& program, const std::string& why) const;

 private:
  std::optional<std::string> playing_of(const std::string& tape, const TapeKey& key) const;
  std::string directory_, player_;
};

// Of a file at an absolute path as it is now; empty if its times are so young that it may change unnoticed.
std::string identity_of(const std::string& path);
// Of its content, whatever the names of the run are.
Result<std::uint64_t> digest_of(const std::string& path, const TapeNames& names);
TapeLook::Kind kind_of(const std::string& path);

}  // namespace jitrace
