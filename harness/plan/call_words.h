#pragma once

#include <initializer_list>
#include <string_view>

namespace jitrace {

// A recorded call taken apart into its words: "open lock O_RDWR|O_CREAT|O_EXCL", "rename a.tmp -> a.so", "copy to b.o",
// "lock db F_SETLKW F_WRLCK". Paths may hold blanks. It points into the text it was made of.
class CallWords {
 public:
  explicit CallWords(std::string_view what);

  std::string_view verb() const { return verb_; }    // "copy" of "copy to"
  std::string_view path() const { return path_; }    // of two names the first
  std::string_view target() const { return target_; }  // of two names the second; else empty
  std::string_view detail() const { return detail_; }  // flags and commands of open, flock, lock and rename; else empty

  bool is(std::initializer_list<std::string_view> verbs) const;
  bool has(std::string_view flag) const;  // whole: O_CREAT is none of O_CREATE's

  // It looks, or tries for a lock, whatever it answers: "stat lock", "open lock O_RDWR|O_CREAT" without O_EXCL and O_TRUNC,
  // "flock lock LOCK_EX|LOCK_NB".
  bool only_looks() const;
  bool waits_for_lock() const;
  bool opens_to_write() const;
  // The name that is there after it, where it may not have been before; empty: none.
  std::string_view may_make() const;
  // As may_make(), but of a call that fails if the name is there.
  std::string_view makes() const;
  // The name that is gone after it; empty: none.
  std::string_view removes() const;

 private:
  std::string_view verb_, path_, target_, detail_;
};

}  // namespace jitrace
