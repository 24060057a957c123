#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace jitrace {

// Why the harness could not do what it was asked to: one operation, the path it was about, the errno it met.
// A misbehaving cache is a Finding and not an Error; a broken promise of our own code is a CHECK.
struct Error {
  // A constructor, so that Error is no aggregate: result<string, Error> must not take a string for an Error.
  Error() = default;
  Error(std::string operation_, std::string path_, int code_, std::string note_)
      : operation(std::move(operation_)), path(std::move(path_)), code(code_), note(std::move(note_)) {}

  std::string operation;  // a lower-case fragment that fits "failed to ...": "open", "start worker"
  std::string path;       // empty where no path is involved
  int code = 0;           // errno, 0 where the kernel was not asked
  std::string note;       // the remedy or detail, one clause; may be empty

  // "open /x/y: No such file or directory (note)"
  std::string message() const;
};

// An Error from the errno of the call that just failed.
Error last_error(std::string_view operation, std::string_view path = {});
Error make_error(std::string_view operation, std::string_view path, int code, std::string_view note = {});
// An Error that no system call gave.
Error plain_error(std::string_view operation, std::string_view note);

}  // namespace jitrace
