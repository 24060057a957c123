#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/tape_names.h"

namespace jitrace {

// What one run of a compiler did, to be done again in its place. Paths are general (TapeNames).

// A file that it read. As long as `identity` (device, inode, size, times) is the file's, so is the content; else, or if
// it is empty, the digest says.
struct TapeInput {
  std::string path;
  std::string identity;
  std::uint64_t digest = 0;
};

// What lay at a path when it was first asked for.
struct TapeLook {
  std::string path;
  enum class Kind { nothing, file, directory, other } kind = Kind::nothing;
};

// One call. `handle` names a descriptor: 0 to 2 are those that the program was born with.
struct TapeStep {
  enum class Op {
    open,
    close,
    write,
    truncate,
    sync,
    mode,
    mode_of_path,
    stat,
    look,
    access,
    read_link,
    unlink,
    remove_dir,
    make_dir,
    rename
  };  // look: a stat that does not follow a link
  Op op = Op::open;
  int handle = -1;          // of a failed open -1
  std::int64_t number = 0;  // flags of an open; where a write begins, -1: where the descriptor stands; a length, a mode
  std::int64_t number2 = 0;  // mode of an open; bytes of a write
  std::string path, path2;
};

struct Tape {
  TapeNames names;  // of the run that it was learnt from
  std::vector<TapeInput> inputs;
  std::vector<TapeLook> looks;
  std::vector<TapeStep> steps;
  std::map<int, std::string> written;  // by handle, what its writes wrote, one after the other

  std::string head() const;  // names, inputs, looks
  static Result<Tape> parse_head(std::string_view text);
  std::string body() const;  // names, steps
  static Result<Tape> parse_body(std::string_view text);
};

// Of what was written through a handle, beside "head" and "body".
std::string tape_bytes_file(int handle);

}  // namespace jitrace
