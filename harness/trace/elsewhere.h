#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace jitrace {

// What the processes of a trial make outside of the cache: which of it other processes of the program may meet, and what has
// to go when the trial is over. Paths are absolute and canonical.
class Elsewhere {
 public:
  // What a call is about to do there.
  struct Step {
    std::string made;     // a name that is not there yet; empty: none
    std::string removed;  // unlinked, or renamed away; empty: none
  };
  // Calls that make a name are kept in this file as they come, for whoever cleans up after a tracer that was ended. It is
  // gone with a trial that came to its end. Empty: nowhere.
  explicit Elsewhere(std::string journal) : journal_(std::move(journal)) {}

  void done(const Step& step);  // it succeeded
  void locked(const std::string& path) { locked_.insert(path); }
  bool has_made(const std::string& path) const { return made_.contains(path); }

  // What the program may share with others, now that it has ended: what it made in the directory for temporary files, and
  // elsewhere what it made and locked, or made and took away again. What stays is a result. Nothing below another of them,
  // and nothing that was there before.
  std::vector<std::string> found(const std::function<bool(const std::string&)>& is_temporary) const;

  static constexpr const char* journal_name = "made-elsewhere";  // in a lane's scratch directory
  static void note(const std::string& journal, const std::string& path);
  // Takes away what a journal names and is still there: files, directories that are empty by then, and of `roots` all.
  static void clean_up(const std::string& journal, const std::vector<std::string>& roots);

 private:
  std::string journal_;
  std::set<std::string> made_, theirs_, locked_;
};

}  // namespace jitrace
